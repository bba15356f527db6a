//! JSON form of three-dimensional sizes: `[x, y, z]` with trailing ones omitted.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserializer, Serializer};

/// The sizes that are written: at least the first.
pub(crate) fn shown(dims: &[u32; 3]) -> &[u32] {
    match dims {
        [_, 1, 1] => &dims[..1],
        [_, _, 1] => &dims[..2],
        _ => dims,
    }
}

/// The default: 1 × 1 × 1.
pub(crate) fn one() -> [u32; 3] {
    [1; 3]
}

pub(crate) fn is_one(dims: &[u32; 3]) -> bool {
    *dims == one()
}

pub(crate) fn serialize<S: Serializer>(dims: &[u32; 3], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(shown(dims))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u32; 3], D::Error> {
    struct Dims;
    impl<'de> Visitor<'de> for Dims {
        type Value = [u32; 3];

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("one to three sizes")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sizes: A) -> Result<[u32; 3], A::Error> {
            let mut dims = one();
            dims[0] = sizes.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
            for dim in &mut dims[1..] {
                let Some(size) = sizes.next_element()? else { return Ok(dims) };
                *dim = size;
            }
            match sizes.next_element::<u32>()? {
                Some(_) => Err(A::Error::invalid_length(4, &self)),
                None => Ok(dims),
            }
        }
    }
    from.deserialize_seq(Dims)
}

/// The same for an optional field.
pub(crate) mod option {
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(dims: &Option<[u32; 3]>, to: S) -> Result<S::Ok, S::Error> {
        match dims {
            Some(dims) => super::serialize(dims, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[u32; 3]>, D::Error> {
        super::deserialize(from).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use crate::{GraphKernel, Launch};

    #[test]
    fn ones_at_the_end_are_left_out_and_filled_in() {
        for (block, text) in
            [([1, 1, 1], "[1]"), ([0, 1, 1], "[0]"), ([7, 1, 2], "[7,1,2]"), ([1, 2, 1], "[1,2]")]
        {
            let kernel = GraphKernel { grid: block, block, ..GraphKernel::default() };
            let json = serde_json::to_string(&kernel).unwrap();
            let grid = if text == "[1]" { String::new() } else { format!("\"grid\":{text},") };
            assert_eq!(json, format!("{{{grid}\"block\":{text}}}"));
            assert_eq!(serde_json::from_str::<GraphKernel>(&json).unwrap(), kernel);
        }
        let whole =
            r#"{"tid":1,"id":1,"t":0,"dur":0,"hook":0,"grid":[1,1,1],"block":[2,1,1],"items":[2,1,1]}"#;
        let launch: Launch = serde_json::from_str(whole).unwrap();
        assert_eq!(
            (launch.grid, launch.block, launch.items),
            ([1; 3], [2, 1, 1], Some([2, 1, 1])),
            "with its ones"
        );
        for wrong in ["[]", "[1,1,1,1]", "[-1]", "1"] {
            assert!(
                serde_json::from_str::<GraphKernel>(&format!(r#"{{"block":{wrong}}}"#)).is_err(),
                "{wrong}"
            );
        }
    }
}
