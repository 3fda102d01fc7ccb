/*bin/true
# A function of Rust as a target: gelu-verify run "pipe:sh adapter.rs 'x.tanh()'" --dtype float32 (docs/targets.md).
# x is one input, an f32 or f64, and the expression its output. Further words are flags of rustc: --extern libm=liblibm.rlib.
# sh runs this comment, which compiles the rest; the program removes its folder.
export FOLDER="$(mktemp -d)"
printf %s "$1" > "$FOLDER/expression"
shift
rustc -O --edition 2021 -A warnings --error-format short --cfg "$GELU_VERIFY_DTYPE" "$@" -o "$FOLDER/program" "$0" 2> "$FOLDER/said" &&
  exec "$FOLDER/program"
cat "$FOLDER/said" >&2
grep -m 1 error "$FOLDER/said" >&2
rm -r "$FOLDER"
exit 1
*/
use std::io::{stdin, stdout, ErrorKind, Read, Result, Write};

#[cfg(float32)]
type T = f32;
#[cfg(float64)]
type T = f64;
#[cfg(not(any(float32, float64)))]
compile_error!("float32 and float64 only");

fn f(x: T) -> T {
    include!(concat!(env!("FOLDER"), "/expression"))
}

fn main() -> Result<()> {
    std::fs::remove_dir_all(env!("FOLDER"))?;
    let (mut input, mut output, mut values) = (stdin().lock(), stdout().lock(), Vec::new());
    loop {
        let mut head = [0; 8];
        match input.read_exact(&mut head) {
            Err(end) if end.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        values.resize(u64::from_le_bytes(head) as usize * size_of::<T>(), 0);
        input.read_exact(&mut values)?;
        for value in values.chunks_exact_mut(size_of::<T>()) {
            let y = f(T::from_le_bytes((&*value).try_into().unwrap()));
            value.copy_from_slice(&y.to_le_bytes());
        }
        output.write_all(&head)?;
        output.write_all(&values)?;
        output.flush()?;
    }
}
