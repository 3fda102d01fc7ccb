# A function of R as a target: gelu-verify run "pipe:Rscript adapter.R 'x * pnorm(x)'" --dtype float64 (docs/targets.md).
# x is a vector of inputs; the expression gives one of as many outputs.
serve <- function() {
  if (Sys.getenv("GELU_VERIFY_DTYPE") != "float64") stop("float64 only, as R has no other")
  f <- eval(parse(text = paste("function(x)", commandArgs(trailingOnly = TRUE)[1])))
  input <- file("stdin", "rb")
  output <- file("/dev/stdout", "wb", raw = TRUE)
  sink(stderr())  # what the expression prints
  while (length(head <- readBin(input, "raw", 8)) == 8) {
    n <- readBin(head, "integer", endian = "little")
    y <- f(readBin(input, "double", n, endian = "little"))
    if (!is.double(y) || length(y) != n) stop("the result is ", typeof(y), " of ", length(y), ", not double of ", n)
    writeBin(head, output)
    writeBin(as.vector(y), output, endian = "little")
    flush(output)
  }
}

tryCatch(serve(), error = function(problem) {
  message(gsub("\n", " ", conditionMessage(problem)))  # in one line
  quit(status = 1)
})
