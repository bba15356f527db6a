//! Launch lines, the bulk of every trace, read without a JSON parser when they are written as rocshim writes them.
//!
//! Anything unexpected (another order, a new key, white space) gives `None`, and the ordinary parser decides.

use rocshim_trace::{Arg, Call, Hex, Launch, arg_of_text};

/// The launch of a line in rocshim's own form; `None` for every other line.
pub(crate) fn parse(line: &[u8]) -> Option<Launch> {
    let mut at = Cursor(line.strip_prefix(br#"{"type":"launch","tid":"#)?);
    let mut launch = Launch { call: call(&mut at)?, ..Launch::default() };
    if at.skip(br#","kernel":"#) {
        launch.kernel = Some(at.number()?.try_into().ok()?);
    }
    if at.skip(br#","function":""#) {
        launch.function = Some(at.hex()?);
    }
    launch.grid = at.key(br#","grid":["#)?.triple()?;
    launch.block = at.key(br#","block":["#)?.triple()?;
    if at.skip(br#","items":["#) {
        launch.items = Some(at.triple()?);
    }
    if at.skip(br#","lds":"#) {
        launch.lds = at.number()?;
    }
    if at.skip(br#","stream":""#) {
        launch.stream = at.hex()?;
    }
    if at.skip(br#","events":[""#) {
        let start = at.hex()?;
        let stop = at.key(br#",""#)?.hex()?;
        at.key(b"]")?;
        launch.events = Some([start, stop]);
    }
    if at.skip(br#","flags":"#) {
        launch.flags = at.number()?;
    }
    launch.cooperative = at.skip(br#","cooperative":true"#);
    if at.skip(br#","capture":"#) {
        launch.capture = Some(at.number()?.try_into().ok()?);
    }
    if at.skip(br#","args":["#) {
        launch.args = args(&mut at)?;
    }
    if at.skip(br#","args_cut":"#) {
        launch.args_cut = at.number()?;
    }
    if at.skip(br#","args_raw":""#) {
        launch.args_raw = at.text()?.into();
    }
    matches!(at.0, b"}\n" | b"}").then_some(launch)
}

fn call(at: &mut Cursor) -> Option<Call> {
    let mut call = Call { tid: at.number()?.try_into().ok()?, ..Call::default() };
    call.id = at.key(br#","id":"#)?.number()?;
    if at.skip(br#","parent":"#) {
        call.parent = Some(at.number()?);
    }
    call.t = at.key(br#","t":"#)?.number()?;
    call.dur = at.key(br#","dur":"#)?.number()?;
    call.hook = at.key(br#","hook":"#)?.number()?.try_into().ok()?;
    if at.skip(br#","status":"#) {
        let negative = at.skip(b"-");
        let size = i64::try_from(at.number()?).ok()?;
        call.status = if negative { -size } else { size }.try_into().ok()?;
    }
    call.unwound = at.skip(br#","unwound":true"#);
    Some(call)
}

/// One value or more, with the closing bracket.
fn args(at: &mut Cursor) -> Option<Vec<Arg>> {
    let mut args = Vec::with_capacity(16);
    loop {
        args.push(if at.skip(b"\"") { arg_of_text(at.text()?)? } else { at.value()? });
        if at.skip(b"]") {
            return Some(args);
        }
        at.key(b",")?;
    }
}

/// The rest of the line.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    /// Passes `text` if it comes next.
    #[inline]
    fn skip(&mut self, text: &[u8]) -> bool {
        match self.0.strip_prefix(text) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Passes `text`, which must come next.
    #[inline]
    fn key(&mut self, text: &[u8]) -> Option<&mut Cursor<'a>> {
        self.skip(text).then_some(self)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        // JSON knows no leading zeros; leave such a line to the parser that says so.
        if digits == 0 || (digits > 1 && number[0] == b'0') {
            return None;
        }
        self.0 = rest;
        number.iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
    }

    /// `0x` and digits up to and with the closing quote.
    fn hex(&mut self) -> Option<Hex> {
        self.key(b"0x")?;
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        self.key(b"\"")?;
        u64::from_str_radix(std::str::from_utf8(number).ok()?, 16).ok().map(Hex)
    }

    /// Text without escapes, with the closing quote.
    fn text(&mut self) -> Option<&'a str> {
        let end = self.0.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest;
        self.key(b"\"")?;
        std::str::from_utf8(text).ok()
    }

    /// A JSON number of any kind.
    fn value(&mut self) -> Option<Arg> {
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let (text, rest) = self.0.split_at(self.0.iter().take_while(is_part).count());
        self.0 = rest;
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        // Up to 15 digits, an integer has the same value whoever reads it.
        if (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
            if digits.len() > 1 && digits[0] == b'0' {
                return None;
            }
            let size = digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            return Some(Arg::Integer(if digits.len() < text.len() { -size } else { size }));
        }
        serde_json::from_slice(text).ok()
    }

    /// Three numbers with the closing bracket.
    fn triple(&mut self) -> Option<[u32; 3]> {
        let x = self.number()?;
        let y = self.key(b",")?.number()?;
        let z = self.key(b",")?.number()?;
        self.key(b"]")?;
        Some([x.try_into().ok()?, y.try_into().ok()?, z.try_into().ok()?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocshim_trace::{Record, parse_line, write_launch};

    fn launches() -> Vec<Launch> {
        let call = Call { tid: 4711, id: 12, t: 99, dur: 5, hook: 3, ..Call::default() };
        let plain =
            Launch { call, kernel: Some(8), grid: [4, 1, 1], block: [256, 1, 1], ..Launch::default() };
        let mut full = plain.clone();
        full.call.parent = Some(11);
        full.call.status = -9;
        full.call.unwound = true;
        full.function = Some(Hex(0));
        full.items = Some([1024, 2, u32::MAX]);
        full.lds = u64::MAX;
        full.stream = Hex(0x7f00_dead_beef);
        full.events = Some([Hex(0x10), Hex(u64::MAX)]);
        full.flags = 1;
        full.cooperative = true;
        full.capture = Some(u32::MAX);
        full.args_cut = 2;
        let numbers = [0.0, -0.5, 1e-30, f64::MAX, f64::INFINITY].map(Arg::Float);
        let integers = [-3, 0, 123_456_789_012_345, (1 << 53) - 1, -(1 << 53)].map(Arg::Integer);
        let others = [Arg::Hex(Hex(0)), Arg::Hex(Hex(u64::MAX)), Arg::Bytes([0, 0xf1].into())];
        full.args = numbers.into_iter().chain(integers).chain(others).collect();
        let mut raw = plain.clone();
        raw.args_raw = "00ff".into();
        vec![Launch::default(), raw, plain, full]
    }

    #[test]
    fn what_rocshim_writes_is_read_as_the_parser_reads_it() {
        for launch in launches() {
            let mut line = Vec::new();
            write_launch(&mut line, &launch);
            assert_eq!(parse(&line), Some(launch.clone()));
            assert_eq!(parse_line(&line).unwrap(), Record::Launch(launch));
        }
    }

    #[test]
    fn any_other_line_is_left_to_the_parser() {
        let mut line = Vec::new();
        write_launch(&mut line, &launches()[3]);
        let line = String::from_utf8(line).unwrap();
        for changed in [
            line.replace("\"flags\":1", "\"flags\":1,\"new\":2"),
            line.replace("\"tid\":4711", "\"tid\": 4711"),
            line.replace("\"tid\":4711", "\"tid\":04711"),
            line.replace("\"tid\":4711", "\"tid\":99999999999"),
            line.replace("\"lds\":18446744073709551615", "\"lds\":18446744073709551616"),
            line.replace("launch", "gemm"),
            line.replace("[0.0,", "[00,"),
            line.replace("[0.0,", "[0.0,null,"),
            line.replace("[0.0,", "[0.0,,"),
            line.replace("\"00f1\"", "\"00f\""),
        ] {
            assert_ne!(changed, line);
            assert_eq!(parse(changed.as_bytes()), None, "{changed}");
        }
        // A cut line never counts as whole, wherever the cut is.
        for length in 0..line.len() - 2 {
            assert_eq!(parse(&line.as_bytes()[..length]), None, "{length}");
        }
    }
}
