use super::*;
use crate::evidence::made::CONFIRMED;
use std::convert::Infallible;

/// What the choice of a simulated program depends on.
#[derive(Clone, Debug)]
enum Decider {
    /// All of these differences being present.
    Needs(Vec<usize>),
    /// Either of them alone.
    Either(usize, usize),
    Nothing,
    /// Chance, with this probability in sixteenths.
    Chance(u64),
    /// Period of the flip in runs.
    Period(usize),
    /// Having run this often before, like a cache that fills.
    After(usize),
    /// Chance, while this difference is present.
    ChanceWith(usize),
}

/// A simulated program: a decision for each decider.
struct Program {
    deciders: Vec<Decider>,
    runs: usize,
    random: u64,
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl Program {
    fn new(deciders: Vec<Decider>, seed: u64) -> Program {
        Program { deciders, runs: 0, random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    fn coin(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 60
    }
}

impl Bench for Program {
    type Error = Infallible;

    fn run(&mut self, set: &Differences) -> Result<Decisions, Infallible> {
        let run = self.runs;
        self.runs += 1;
        let second = self.deciders.clone().into_iter().map(|decider| match decider {
            Decider::Needs(all) => all.iter().all(|at| set.contains(at)),
            Decider::Either(one, other) => set.contains(&one) || set.contains(&other),
            Decider::Nothing => false,
            Decider::Chance(of16) => self.coin() < of16,
            Decider::Period(period) => run / period % 2 == 1,
            Decider::After(runs) => run >= runs,
            Decider::ChanceWith(at) => set.contains(&at) && self.coin() < 8,
        });
        let second: Vec<bool> = second.collect();
        let kernels = second.iter().zip(NAMES).map(|(second, name)| (name, if *second { "y" } else { "x" }));
        Ok(Decisions::of_kernels(kernels))
    }
}

fn bisected(deciders: &[Decider], differences: usize, seed: u64) -> Bisection {
    let Ok(found) = bisect(&mut Program::new(deciders.to_vec(), seed), differences, 8, seed);
    found
}

fn set(differences: &[usize]) -> Differences {
    differences.iter().copied().collect()
}

#[test]
fn one_difference_of_32_is_found_in_few_runs_and_the_others_do_not_matter() {
    let found = bisected(&[Decider::Needs(vec![19]), Decider::Needs(vec![19]), Decider::Nothing], 32, 1);
    let [cause] = &found.causes[..] else { panic!("{found:?}") };
    assert_eq!((&cause.differences, cause.others, cause.evidence), (&set(&[19]), Others::Stay, CONFIRMED));
    assert_eq!((cause.decisions.len(), found.same), (2, 1));
    // 4 of A and B, 5 halvings of at most 2, 16 to confirm, 1 with all others.
    assert!(found.runs <= 31, "{}", found.runs);
}

#[test]
fn two_differences_that_are_needed_together_are_found_together() {
    let found = bisected(&[Decider::Needs(vec![3, 30])], 32, 1);
    let [cause] = &found.causes[..] else { panic!("{found:?}") };
    assert_eq!((&cause.differences, cause.others, cause.evidence), (&set(&[3, 30]), Others::Stay, CONFIRMED));
}

#[test]
fn decisions_with_different_causes_have_a_cause_each() {
    let found = bisected(&[Decider::Needs(vec![0]), Decider::Needs(vec![7])], 8, 1);
    let sets: Vec<&Differences> = found.causes.iter().map(|cause| &cause.differences).collect();
    assert_eq!(sets, [&set(&[0]), &set(&[7])]);
}

#[test]
fn a_difference_that_is_not_the_only_cause_is_not_called_so() {
    let found = bisected(&[Decider::Either(2, 5)], 8, 1);
    let [cause] = &found.causes[..] else { panic!("{found:?}") };
    assert!(cause.differences == set(&[2]) || cause.differences == set(&[5]));
    assert_eq!(cause.others, Others::FlipToo);
}

#[test]
fn nothing_is_found_where_nothing_differs() {
    let found = bisected(&[Decider::Nothing, Decider::Nothing], 8, 1);
    assert_eq!((found.causes.len(), found.unstable.len(), found.same, found.runs), (0, 0, 2, 4));
}

/// Programs with up to six decisions, by differences, by chance, by time and by how often they ran.
#[test]
fn a_thousand_programs_have_no_false_cause_and_every_true_one_is_found() {
    let (mut confirmed, mut true_ones) = (0, 0);
    for seed in 1..=1000_u64 {
        let mut lots = Program::new(Vec::new(), seed ^ 0xabcd_ef01);
        (0..8).for_each(|_| _ = lots.coin());
        let differences = 1 + (lots.coin() + lots.coin()) as usize;
        let mut number = || (lots.coin() * 16 + lots.coin()) as usize;
        let deciders: Vec<Decider> = (0..1 + number() % 3)
            .map(|_| match number() % 8 {
                0 | 1 => Decider::Needs(vec![number() % differences]),
                2 => Decider::Needs(vec![number() % differences, number() % differences]),
                3 => Decider::Nothing,
                4 => Decider::Chance(1 + number() as u64 % 15),
                5 => Decider::Period(1 + number() % 4),
                6 => Decider::After(1 + number() % 12),
                _ => Decider::ChanceWith(number() % differences),
            })
            .collect();
        let found = bisected(&deciders, differences, seed);
        let decider =
            |subject: &Subject| &deciders[NAMES.iter().position(|name| *name == subject.what).unwrap()];
        for cause in &found.causes {
            for row in &cause.decisions {
                let is_true =
                    matches!(decider(&row.subject), Decider::Needs(all) if set(all) == cause.differences);
                assert!(is_true || cause.evidence != CONFIRMED, "{seed}: {deciders:?}: {cause:?}");
                confirmed += u32::from(cause.evidence == CONFIRMED);
            }
        }
        // Whatever else varies, a true cause is found.
        for (at, decider) in deciders.iter().enumerate() {
            let Decider::Needs(all) = decider else { continue };
            true_ones += 1;
            let finds = |cause: &&Cause| cause.differences == set(all);
            let is_in = |cause: &Cause| cause.decisions.iter().any(|row| row.subject.what == NAMES[at]);
            assert!(found.causes.iter().find(finds).is_some_and(is_in), "{seed}: {deciders:?}: {found:?}");
        }
    }
    assert!(confirmed > 500 && true_ones > 500, "{confirmed} confirmed of {true_ones}");
}

#[test]
fn a_cause_is_confirmed_without_a_doubt() {
    crate::evidence::rules::check(&CAUSE, &None, &[Some("it varies".to_string())], &[]);
}
