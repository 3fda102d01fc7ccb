# A function of R as a target: gelu-verify run "pipe:Rscript adapter.R 'x * pnorm(x)'" --dtype float64 (docs/targets.md).
# x is a vector of inputs, and so is g or b of a function of two inputs; the expression gives one of as many outputs.
serve <- function() {
  if (Sys.getenv("GELU_VERIFY_DTYPE") != "float64") stop("float64 only, as R has no other")
  second <- Sys.getenv("GELU_VERIFY_SECOND_INPUT")  # its name
  is_pair <- second != ""
  f <- eval(parse(text = paste0("function(x", if (is_pair) paste(",", second), ") ", commandArgs(trailingOnly = TRUE)[1])))
  input <- file("stdin", "rb")
  output <- file("/dev/stdout", "wb", raw = TRUE)
  sink(stderr())  # what the expression prints
  while (length(head <- readBin(input, "raw", 8)) == 8) {
    n <- readBin(head, "integer", endian = "little")
    x <- readBin(input, "double", n, endian = "little")
    if (is_pair) n <- n %/% 2L
    y <- if (is_pair) f(x[1:n], x[-(1:n)]) else f(x)
    if (is.logical(y) && all(is.na(y))) y <- as.double(y)  # so `ifelse(x < 0, 0, x)` says NaN
    if (!is.double(y) || length(y) != n) stop("the result is ", typeof(y), " of ", length(y), ", not double of ", n)
    writeBin(c(n, 0L), output, endian = "little")
    writeBin(as.vector(y), output, endian = "little")
    flush(output)
  }
}

tryCatch(serve(), error = function(problem) {
  message(gsub("\n", " ", conditionMessage(problem)))  # in one line
  quit(status = 1)
})
