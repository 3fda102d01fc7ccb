"""Ten questions to a run, answered with pandas: a notebook as plain Python, its cells begin with `# %%`.

    gelu-verify run torch numpy scipy      # stores a run, and links it as reports/latest
    python ten_questions.py                # or: python ten_questions.py FOLDER_OF_A_RUN

reports/README.md of the repository says what each column holds; docs/grades.md defines the grades.
"""

# %% Read the run: all results are one table, and others have more rows for each result
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd

RUN = Path(sys.argv[1] if len(sys.argv) == 2 else "reports/latest")
GRADES = ["correctly_rounded", "faithful", "accurate", "accurate_range", "absolute", "coarse", "broken"]

results = pd.read_parquet(RUN / "results.parquet")
results["grade"] = pd.Categorical(results["grade"], GRADES, ordered=True)  # the best first
exactly = {"float_precision": "round_trip"} if int(pd.__version__.partition(".")[0]) < 3 else {}  # to the last bit
regions = pd.read_csv(RUN / "regions.csv", **exactly)
findings = pd.read_csv(RUN / "findings.csv")
measured = results[results["max_ulp"].notna()]
answers: dict[str, pd.DataFrame] = {}


def answer(question: str, table: pd.DataFrame) -> None:
    """Print a question and the first rows of its answer."""
    answers[question] = table
    print(f"\n{question}\n{table.head(12).to_string(index=False) if len(table) else '(nothing)'}")


# %% 1. Best: the grade decides, then the error
best = measured.sort_values(["grade", "max_ulp"], kind="stable").drop_duplicates(["function", "dtype"]).sort_index()
answer(
    "1. Which target is best for each function and dtype?", best[["function", "dtype", "target", "grade", "max_ulp"]]
)

# %% 2. Broken: whatever the errors are
broken = results[results["grade"] == "broken"]
answer("2. Which are broken, and how?", broken[["target", "function", "dtype", "sentence"]])

# %% 3. The tail at -inf: between zero_from_x and zero_threshold_x the result is zero, and should not be
tail = measured[measured["zero_from_x"].notna()].sort_values("zero_from_x", ascending=False)
answer("3. Where does each lose its tail?", tail[["target", "function", "dtype", "zero_from_x", "zero_threshold_x"]])

# %% 4. Regions: one row per result and region of x, with the worst input there
worst = regions.sort_values("max_ulp", ascending=False).drop_duplicates(["run", "result"]).sort_index()
shown = ["target", "function", "dtype", "lower", "upper", "max_ulp", "rel_error", "x", "x_bits"]
answer("4. Which is the worst region of each?", worst[shown])

# %% 5. Equal: the same inputs, and the same digest of all results
same = measured.groupby(["function", "dtype", "inputs_sha256", "bits_sha256"])["target"].agg(["size", ", ".join])
same = same[same["size"] > 1].reset_index().rename(columns={"join": "targets"})
answer("5. Which are equal bit for bit?", same[["function", "dtype", "size", "targets"]])

# %% 6. Speed: a target is worth a look where none is both faster and more accurate
timed = measured[measured["elements_per_s"].notna()].sort_values("elements_per_s", ascending=False, kind="stable")
before = timed.groupby(["function", "dtype"])["max_ulp"].transform(lambda ulp: ulp.cummin().shift(fill_value=np.inf))
pareto = timed[timed["max_ulp"] < before].sort_values(["function", "dtype"], kind="stable")
answer(
    "6. What does accuracy cost in speed?",
    pareto[["function", "dtype", "target", "elements_per_s", "max_ulp", "max_abs_error"]],
)

# %% 7. Activations: buckets count the correctly rounded results, and the normal distribution weighs them
DTYPES = {"float16": np.float16, "bfloat16": np.float32, "float32": np.float32, "float64": np.float64}


def probability(dtype: str) -> np.ndarray:
    """Of x ~ N(0,1) to lie in each of the 65,536 buckets: the top 16 bits of the ordinal of x, plus 0x8000."""
    width = np.dtype(DTYPES[dtype]).itemsize * 8  # bfloat16 is the upper half of a float32
    ordinal = np.arange(-0x8000, 0x8001)
    magnitude = np.minimum(np.where(ordinal < 0, -ordinal, ordinal), 0x7FFF).astype(np.uint64) << np.uint64(width - 16)
    with np.errstate(invalid="ignore"):  # beyond infinity are NaNs
        values = magnitude.astype(f"u{width // 8}").view(DTYPES[dtype]).astype(np.float64)
    ends = np.where(ordinal < 0, -1, 1) * np.where(np.isnan(values), np.inf, values)
    return np.diff([math.erfc(-end / math.sqrt(2)) / 2 for end in ends])


def normal_share(path: str, weights: np.ndarray) -> float:
    """Of the correctly rounded results under N(0,1)."""
    buckets = pd.read_parquet(RUN / path, columns=["bucket", "n", "correct"])
    weight = weights[buckets["bucket"]]
    return float((weight * buckets["correct"] / buckets["n"]).sum() / weight.sum())


weights = {dtype: probability(dtype) for dtype in measured["dtype"].unique() if dtype in DTYPES}
normal = measured[measured["dtype"].isin(weights) & measured["buckets"].notna()].copy()
normal["under_normal"] = [normal_share(row.buckets, weights[row.dtype]) for row in normal.itertuples()]
answer(
    "7. What share of results is correctly rounded, over the plan and under N(0,1)?",
    normal[["target", "function", "dtype", "correctly_rounded", "under_normal", "mean_bits_normal"]],
)

# %% 8. Dtypes side by side: a target has a row for each
facts = ["function", "target", "grade", "max_ulp", "rel_error", "correctly_rounded"]
narrow, wide = (measured.loc[measured["dtype"] == dtype, facts] for dtype in ("bfloat16", "float32"))
pairs = wide.merge(narrow, on=["function", "target"], suffixes=("_float32", "_bfloat16"))
shown = [f"{fact}_{dtype}" for fact in facts[2:] for dtype in ("float32", "bfloat16")]
answer("8. What differs between float32 and bfloat16?", pairs[["function", "target", *shown]])

# %% 9. Checks: what fails, how often, and what it means
failures = findings.groupby(["check", "severity"]).agg(results=("result", "size"), targets=("target", "nunique"))
answer("9. Which checks fail?", failures.sort_values("results", ascending=False).reset_index())

# %% 10. A test that compares with a tolerance sees only this; abs_error is taken from the exact value
RTOL, ATOL = 1e-5, 1e-8  # the defaults of numpy.allclose
lost = measured[(measured["max_ulp"] > 1000) & (measured["abs_error"] <= ATOL + RTOL * measured["want"].abs())]
answer(
    "10. Whose largest error passes numpy.allclose, though it is above 1000 ULP?",
    lost[["target", "function", "dtype", "max_ulp", "rel_error", "abs_error", "x"]],
)
