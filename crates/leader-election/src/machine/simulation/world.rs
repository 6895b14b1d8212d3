//! The world: true time, the network, and what goes wrong.

use super::Seen;
use super::process::Process;
use super::server::Server;
use crate::Term;
use crate::machine::{Answer, LostReason, Output};
use crate::random::Random;
use std::collections::BTreeMap;
use std::time::Instant;
use tokio::time::Instant as TokioInstant;

/// Microseconds of true time.
type Time = u64;

const SECOND: Time = 1_000_000;
/// When the faults end.
const CALM_FROM: Time = 80 * SECOND;
/// From when on somebody leads: a lease whose holder is gone may be seen first one pause of a
/// candidate after the faults ended, and is taken one lease duration and another pause later, all
/// on the slowest clock, after a request that got no answer.
const LED_FROM: Time = CALM_FROM + 40 * SECOND;
const END: Time = LED_FROM + 20 * SECOND;

/// The fastest clock is less than 1.5 times as fast as the slowest, as the default durations
/// tolerate.
const TOLERATED: (u64, u64) = (820, 1_220);

/// What may go wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Faults {
    is_calm: bool,
    /// The rates of clocks, in thousandths of true time's.
    rates: (u64, u64),
}

impl Faults {
    pub(super) const ALL: Self = Self {
        is_calm: false,
        rates: TOLERATED,
    };
    pub(super) const NONE: Self = Self {
        is_calm: true,
        rates: TOLERATED,
    };
    pub(super) const WILD_CLOCKS: Self = Self {
        is_calm: false,
        rates: (500, 1_500),
    };
}

#[derive(Debug)]
enum Event {
    /// A process looks at its answers and its clock.
    Wake(usize),
    /// The timer of a process, unless it has set another since.
    Timer(usize, u64),
    /// A request reaches the server.
    Request(usize, u64, Output),
    /// An answer reaches a process.
    Answer(usize, u64, Answer),
    Fault,
}

pub(super) struct World {
    random: Random,
    now: Time,
    events: BTreeMap<(Time, u64), Event>,
    /// Numbers events and requests.
    count: u64,
    server: Server,
    processes: Vec<Process>,
    faults: Faults,
    story: Vec<String>,
}

impl World {
    pub(super) fn new(seed: u64, processes: usize, faults: Faults) -> Self {
        let mut random = Random::new(seed);
        let origin = TokioInstant::now().into_std();
        let mut world = Self {
            processes: (0..processes)
                .map(|it| Process::new(format!("p{it}"), origin, faults.rates, &mut random))
                .collect(),
            random,
            now: 0,
            events: BTreeMap::new(),
            count: 0,
            server: Server::default(),
            faults,
            story: Vec::new(),
        };
        for index in 0..processes {
            let at = world.up_to(2 * SECOND);
            world.schedule(at, Event::Wake(index));
        }
        if !faults.is_calm {
            world.schedule(SECOND, Event::Fault);
        }
        world
    }

    pub(super) fn story(&self) -> String {
        self.story.join("\n")
    }

    /// Runs until the end; an error says what was violated.
    pub(super) fn run(&mut self, seen: &mut Seen) -> Result<(), String> {
        while let Some(((at, _), event)) = self.events.pop_first() {
            self.now = at;
            if at >= END {
                break;
            }
            match event {
                Event::Wake(index) => self.wake(index, seen),
                Event::Timer(index, id) if self.processes[index].timer == id => {
                    self.wake(index, seen);
                }
                Event::Timer(..) => continue,
                Event::Request(index, id, request) => self.serve(index, id, &request, seen),
                Event::Answer(index, id, answer) => self.arrive(index, id, answer, seen),
                Event::Fault => self.go_wrong(seen),
            }
            self.check()?;
        }
        let slow_paths = self
            .processes
            .iter()
            .map(|it| it.machine.counts().slow_paths);
        seen.slow_paths += slow_paths.sum::<u64>();
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let holding = self.processes.iter().filter(|it| it.holds(self.now));
        let holding: Vec<&str> = holding.map(|it| it.name.as_str()).collect();
        let at = self.now / 1_000;
        match holding.len() {
            0 if self.now >= LED_FROM => Err(format!("{at} ms: nobody leads")),
            0 | 1 => Ok(()),
            _ => Err(format!("{at} ms: {holding:?} lead")),
        }
    }

    fn is_calm(&self) -> bool {
        self.faults.is_calm || self.now >= CALM_FROM
    }

    /// A random number below `max`.
    fn up_to(&mut self, max: u64) -> u64 {
        self.random.next() % max
    }

    fn one_in(&mut self, n: u64) -> bool {
        !self.is_calm() && self.up_to(n) == 0
    }

    fn schedule(&mut self, wait: Time, event: Event) {
        self.count += 1;
        self.events.insert((self.now + wait, self.count), event);
    }

    fn tell(&mut self, index: usize, what: &str) {
        let line = format!(
            "{} ms {}: {what}",
            self.now / 1_000,
            self.processes[index].name
        );
        self.story.push(line);
    }

    /// How long a message takes. Nothing that is sent in faulty times arrives in calm ones.
    fn delay(&mut self) -> Time {
        let usual = SECOND / 1_000 + self.up_to(SECOND / 20);
        if !self.one_in(12) {
            return usual;
        }
        let slow = self.up_to(30 * SECOND);
        slow.min(CALM_FROM - self.now)
    }

    fn wake(&mut self, index: usize, seen: &mut Seen) {
        if self.processes[index].paused_until > self.now {
            return; // the end of the pause wakes it
        }
        let process = &mut self.processes[index];
        let now = process.now(self.now);
        for (id, answer) in std::mem::take(&mut process.inbox) {
            if process.request == Some(id) {
                process.request = None;
                process.machine.answered(now, answer);
            }
        }
        self.poll(index, seen);
    }

    fn arrive(&mut self, index: usize, id: u64, answer: Answer, seen: &mut Seen) {
        let process = &mut self.processes[index];
        if process.request != Some(id) {
            seen.late_answers += 1;
        }
        process.inbox.push((id, answer));
        self.wake(index, seen);
    }

    fn poll(&mut self, index: usize, seen: &mut Seen) {
        loop {
            let process = &mut self.processes[index];
            let now = process.now(self.now);
            match process.machine.poll(now) {
                Output::SleepUntil(at) => {
                    // A paused process wakes late, a running one soon.
                    let wait = process.true_time(at).saturating_sub(self.now);
                    let wait = wait + self.up_to(SECOND / 1_000);
                    let timer = self.count + 1;
                    self.processes[index].timer = timer;
                    return self.schedule(wait, Event::Timer(index, timer));
                }
                Output::BecameLeader(begun) => {
                    process.term = Some(Term::new(process.name.as_str().into(), &begun));
                    seen.terms += 1;
                    self.tell(index, &format!("leads, term {}", begun.transitions));
                }
                Output::Renewed { until } => {
                    seen.renewals += 1;
                    if let Some(term) = &process.term {
                        let at = TokioInstant::from_std(until);
                        term.extend(TokioInstant::from_std(now.instant), at);
                    }
                }
                Output::Lost(reason) => {
                    self.end_term(index);
                    match reason {
                        LostReason::DeadlineExceeded { .. } => seen.losses_by_deadline += 1,
                        LostReason::Superseded { .. } => seen.losses_to_others += 1,
                    }
                    self.tell(index, &format!("lost: {reason}"));
                }
                Output::NewLeader(_) => {}
                Output::Finished { released } => {
                    seen.releases += u64::from(released);
                    process.machine.restart(now.instant);
                    self.tell(index, "has stopped, and begins again");
                }
                request => self.send(index, request),
            }
        }
    }

    fn end_term(&mut self, index: usize) {
        if let Some(term) = self.processes[index].term.take() {
            term.end();
        }
    }

    fn send(&mut self, index: usize, request: Output) {
        self.count += 1;
        let id = self.count;
        self.processes[index].request = Some(id);
        if self.processes[index].cut_off_until > self.now {
            if self.one_in(2) {
                let refused = Answer::Failed("refused".into());
                self.schedule(SECOND / 1_000, Event::Answer(index, id, refused));
            }
            return; // or it vanishes
        }
        let delay = self.delay();
        self.schedule(delay, Event::Request(index, id, request));
    }

    fn serve(&mut self, index: usize, id: u64, request: &Output, seen: &mut Seen) {
        let mut answer = self.server.serve(request);
        seen.conflicts += u64::from(matches!(answer, Answer::Conflict));
        let is_lost = self.processes[index].cut_off_until > self.now || self.one_in(15);
        if is_lost {
            seen.answers_lost += 1;
            if !self.one_in(2) {
                return; // the process waits in vain
            }
            answer = Answer::Failed("the connection broke".into());
        }
        let delay = self.delay();
        self.schedule(delay, Event::Answer(index, id, answer));
    }

    fn go_wrong(&mut self, seen: &mut Seen) {
        let remaining = CALM_FROM.saturating_sub(self.now);
        if remaining == 0 {
            return;
        }
        let wait = self.up_to(12 * SECOND) + 1;
        self.schedule(wait, Event::Fault);
        let processes = u64::try_from(self.processes.len()).expect("there are few");
        let index = usize::try_from(self.up_to(processes)).expect("there are few");
        let lasts = (self.up_to(30 * SECOND) + 1).min(remaining);
        let until = self.now + lasts;
        match self.up_to(6) {
            0 | 1 => {
                seen.pauses += 1;
                self.tell(index, &format!("is paused for {} ms", lasts / 1_000));
                self.processes[index].paused_until = until;
                self.schedule(lasts, Event::Wake(index));
            }
            2 | 3 => {
                self.tell(index, &format!("is cut off for {} ms", lasts / 1_000));
                self.processes[index].cut_off_until = until;
            }
            4 if self.processes[index].paused_until <= self.now => {
                self.tell(index, "is asked to stop");
                self.end_term(index);
                let process = &mut self.processes[index];
                process.request = None;
                let now = process.now(self.now);
                process.machine.stop(now.instant, true);
                self.schedule(1, Event::Wake(index));
            }
            _ if self.up_to(3) == 0 => {
                self.tell(index, "is killed and started again");
                seen.crashes += 1;
                self.crash(index);
            }
            _ => {
                let value = self.random.next();
                self.server.label(value);
            }
        }
    }

    /// A new process takes the place of one, sometimes with its name.
    fn crash(&mut self, index: usize) {
        self.end_term(index);
        let old = &self.processes[index];
        let name = match self.random.next() % 2 {
            0 => old.name.clone(),
            _ => format!("{}'", old.name),
        };
        let origin: Instant = TokioInstant::now().into_std();
        self.processes[index] = Process::new(name, origin, self.faults.rates, &mut self.random);
        self.schedule(1, Event::Wake(index));
    }
}
