//! `Generator`: a reproducible sequence for each seed.

use crate::area::{AREAS, Area, OBEYED};
use crate::areas;
use crate::catalogue::{Catalogue, CatalogueError};
use crate::plan::Plan;
use crate::random::Random;
use crate::step::Sequence;

/// Steps of a sequence, without the reads at its end.
const STEPS_MIN: usize = 8;
const STEPS_MAX: usize = 22;
/// The percentage of steps from another area than the sequence's.
const ELSEWHERE_PERCENT: usize = 12;

/// Generates sequences.
#[derive(Debug)]
pub(crate) struct Generator {
    catalogue: Catalogue,
    areas: Vec<Area>,
}

impl Generator {
    /// Creates a generator for these areas; for all if there are none. `obeyed`: the servers obey
    /// what is stored, so there is what limits requests, but nothing that would be about other
    /// sequences.
    pub(crate) fn new(areas: &[Area], obeyed: bool) -> Result<Self, CatalogueError> {
        let is_wanted = |area: &Area| areas.is_empty() || areas.contains(area);
        let obeying = obeyed.then_some(&OBEYED);
        let shares = AREAS.iter().chain(obeying);
        let shares = shares.filter(|(area, _)| is_wanted(area));
        Ok(Self {
            catalogue: Catalogue::read(obeyed)?,
            areas: shares
                .flat_map(|(area, share)| std::iter::repeat_n(*area, *share))
                .collect(),
        })
    }

    /// Returns the sequence of a seed.
    pub(crate) fn sequence(&self, seed: u64) -> Sequence {
        let mut random = Random::new(seed);
        let area = *random.pick(&self.areas);
        let steps = STEPS_MIN + random.below(STEPS_MAX - STEPS_MIN + 1);
        let mut plan = Plan::new(&self.catalogue, random, area);
        while plan.steps.len() < steps {
            let is_elsewhere = plan.random.percent(ELSEWHERE_PERCENT);
            let next = if is_elsewhere {
                *plan.random.pick(&self.areas)
            } else {
                area
            };
            plan.area = next;
            areas::advance(&mut plan, next);
        }
        plan.area = area;
        Sequence {
            seed,
            steps: plan.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::memory::Memory;
    use crate::step::Body;

    fn all() -> Generator {
        Generator::new(&[], false).unwrap()
    }

    #[test]
    fn a_seed_makes_the_same_sequence_each_time() {
        let (one, other) = (all(), all());
        for seed in 0..50 {
            assert_eq!(one.sequence(seed), other.sequence(seed));
        }
        assert_ne!(one.sequence(1).steps, one.sequence(2).steps);
    }

    #[test]
    fn every_area_appears_and_an_area_that_is_asked_for_is_most_of_a_sequence() {
        let generator = all();
        let sequences: Vec<Sequence> = (0..400).map(|seed| generator.sequence(seed)).collect();
        let steps = sequences.iter().flat_map(|sequence| &sequence.steps);
        let seen: BTreeSet<Area> = steps.map(|step| step.area).collect();
        assert_eq!(seen.len(), AREAS.len());
        let patches = Generator::new(&[Area::Patches], false).unwrap();
        for seed in 0..20 {
            let steps = patches.sequence(seed).steps;
            assert!(steps.iter().all(|step| step.area == Area::Patches));
            assert!(steps.iter().any(|step| step.method == "PATCH"));
        }
    }

    #[test]
    fn servers_that_obey_get_nothing_that_would_be_about_other_sequences() {
        let generator = Generator::new(&[], true).unwrap();
        let sequences: Vec<Sequence> = (0..300).map(|seed| generator.sequence(seed)).collect();
        let steps = || sequences.iter().flat_map(|sequence| &sequence.steps);
        assert!(steps().any(|step| step.area == Area::Access));
        let is_about_all = |step: &&crate::step::Step| {
            step.method == "POST" && step.path.contains("webhookconfigurations")
        };
        assert!(steps().find(is_about_all).is_none());
    }

    #[test]
    fn steps_refer_only_to_steps_before_them_and_have_bounds() {
        let generator = all();
        for seed in 0..400 {
            let sequence = generator.sequence(seed);
            assert!(sequence.steps.len() >= STEPS_MIN);
            assert!(sequence.steps.len() < 3 * STEPS_MAX, "{seed}");
            for (number, step) in sequence.steps.iter().enumerate() {
                assert_eq!(step.id, number);
                if let Body::Answer { step: before, .. } = step.body {
                    assert!(before < number);
                }
            }
        }
    }

    #[test]
    fn every_request_has_a_target_that_can_be_sent() {
        let generator = all();
        for seed in 0..400 {
            let memory = Memory::new("0");
            for step in generator.sequence(seed).steps {
                let request = memory.request(&step);
                let target: Result<http::Uri, _> = request.target.parse();
                assert!(target.is_ok(), "{}", request.target);
                assert!(http::Method::from_bytes(request.method.as_bytes()).is_ok());
                for (_, value) in request.headers {
                    assert!(http::HeaderValue::from_str(&value).is_ok(), "{value:?}");
                }
            }
        }
    }
}
