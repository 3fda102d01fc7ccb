% A function of Octave as a target: gelu-verify run "pipe:octave-cli adapter.m 'erf(x)'" --dtype float64 (docs/targets.md).
% x is a single or double column of inputs, and so is g or b of a function of two inputs; the expression gives one of as
% many outputs, of the same class.
history_save (false);  % at its end Octave would complain of the file
try
  formats = struct ("float32", "single", "float64", "double");
  dtype = getenv ("GELU_VERIFY_DTYPE");
  if (! isfield (formats, dtype))
    error ("float32 and float64 only");
  end
  name = formats.(dtype);
  names = {"x", getenv("GELU_VERIFY_SECOND_INPUT")};
  names = names(! cellfun (@isempty, names));
  f = str2func (["@(", strjoin(names, ", "), ") ", argv(){1}]);
  while (numel (head = fread (stdin, 8, "uint8=>uint8")) == 8)
    x = fread (stdin, double (typecast (head, "uint64")), [name, "=>", name], 0, "ieee-le");
    n = numel (x) / numel (names);
    inputs = mat2cell (x, repmat (n, 1, numel (names)));
    y = f (inputs{:});
    if (! (isa (y, name) && numel (y) == n))
      error ("the result is %s of %d, not %s of %d", class (y), numel (y), name, n);
    end
    fwrite (stdout, n, "uint64", 0, "ieee-le");
    fwrite (stdout, y, name, 0, "ieee-le");
    fflush (stdout);
  end
catch problem
  fputs (stderr, [strrep(strtrim (problem.message), "\n", " "), "\n"]);  % in one line
  exit (1);
end
