/*bin/true
# A function of Rust as a target: gelu-verify run "pipe:sh adapter.rs 'x.tanh()'" --dtype float32 (docs/targets.md).
# x is one input, an f32 or f64, as is g or b of a function of two inputs, and the expression its output. Further words are
# flags of rustc: --extern libm=liblibm.rlib.
# sh runs this comment, which compiles the rest; the program removes its folder.
export FOLDER="$(mktemp -d)"
printf 'fn f(x: T, %s: T) -> T { %s }' "${GELU_VERIFY_SECOND_INPUT:-_}" "$1" > "$FOLDER/expression"
shift
rustc -O --edition 2021 -A warnings --error-format short --cfg "$GELU_VERIFY_DTYPE" "$@" -o "$FOLDER/program" "$0" 2> "$FOLDER/said" &&
  exec "$FOLDER/program"
cat "$FOLDER/said" >&2
grep -m 1 error "$FOLDER/said" >&2
rm -r "$FOLDER"
exit 1
*/
use std::io::{stdin, stdout, BufWriter, ErrorKind, Read, Result, Write};

#[cfg(float32)]
type T = f32;
#[cfg(float64)]
type T = f64;
#[cfg(not(any(float32, float64)))]
compile_error!("float32 and float64 only");

include!(concat!(env!("FOLDER"), "/expression"));

fn main() -> Result<()> {
    std::fs::remove_dir_all(env!("FOLDER"))?;
    let inputs = if option_env!("GELU_VERIFY_SECOND_INPUT").unwrap_or("").is_empty() { 1 } else { 2 };
    let (mut input, mut output, mut bytes) = (stdin().lock(), BufWriter::new(stdout().lock()), Vec::new());
    loop {
        let mut head = [0; 8];
        match input.read_exact(&mut head) {
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        bytes.resize(u64::from_le_bytes(head) as usize * size_of::<T>(), 0);
        input.read_exact(&mut bytes)?;
        let values: Vec<T> = bytes.chunks(size_of::<T>()).map(|bits| T::from_le_bytes(bits.try_into().unwrap())).collect();
        let n = values.len() / inputs;
        output.write_all(&(n as u64).to_le_bytes())?;
        for (x, second) in values[..n].iter().zip(&values[values.len() - n..]) {
            output.write_all(&f(*x, *second).to_le_bytes())?;
        }
        output.flush()?;
    }
}
