// A GELU as a program: frames of bits on stdin, answers on stdout (docs/targets.md). rustc -O --edition 2021 gelu.rs
use std::io::{self, ErrorKind, Read, Write};

/// x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form without its cancellation.
fn gelu_tanh(x: f64) -> f64 {
    let u = 0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x);
    x / (1.0 + (-2.0 * u).exp())
}

/// The next count; None where the input ends.
fn count(input: &mut impl Read) -> io::Result<Option<u64>> {
    let mut head = [0; 8];
    match input.read_exact(&mut head) {
        Ok(()) => Ok(Some(u64::from_le_bytes(head))),
        Err(end) if end.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Answers every frame of values of N bytes.
fn serve<const N: usize>(answer: impl Fn([u8; N]) -> [u8; N]) -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut values = Vec::new();
    while let Some(n) = count(&mut input)? {
        values.resize(n as usize * N, 0);
        input.read_exact(&mut values)?;
        for value in values.chunks_exact_mut(N) {
            let y = answer(value.try_into().unwrap());
            value.copy_from_slice(&y);
        }
        output.write_all(&n.to_le_bytes())?;
        output.write_all(&values)?;
        output.flush()?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    match std::env::var("GELU_VERIFY_DTYPE").as_deref() {
        Ok("float32") => serve(|x| (gelu_tanh(f32::from_le_bytes(x) as f64) as f32).to_le_bytes()),
        Ok("float64") => serve(|x| gelu_tanh(f64::from_le_bytes(x)).to_le_bytes()),
        _ => Err(io::Error::other("float32 and float64 only")),
    }
}
