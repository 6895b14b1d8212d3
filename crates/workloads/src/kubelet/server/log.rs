//! The log of a simulated container, and the options by which it is read. No I/O.

use kubist_api::core::v1::{Container, ContainerState, ContainerStatus, Pod};
use kubist_apimachinery::{Object as _, Time};

/// How a log is read, as in the query of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LogOptions {
    pub(super) follow: bool,
    pub(super) previous: bool,
    timestamps: bool,
    tail: Option<usize>,
    bytes_max: Option<usize>,
    since_seconds: Option<i64>,
    since: Option<Time>,
    /// Only what is written to the standard error, of which there is nothing.
    only_stderr: bool,
}

/// Why there is no log: code and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoLog {
    pub(super) code: u16,
    pub(super) text: String,
}

/// A log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Log {
    lines: Vec<(Time, String)>,
    /// Whether the container has ended, so that no more lines come.
    pub(super) is_whole: bool,
}

impl LogOptions {
    /// Reads them from the pairs of a query.
    ///
    /// # Errors
    /// A value cannot be read.
    pub(super) fn parse(pairs: &[(String, String)]) -> Result<Self, String> {
        let mut options = Self::default();
        for (key, value) in pairs {
            let wrong = || format!("invalid {key}: {value:?}");
            let number = || value.parse::<i64>().map_err(|_| wrong());
            let count = || value.parse::<usize>().map_err(|_| wrong());
            let flag = value == "true" || value == "1";
            match key.as_str() {
                "follow" => options.follow = flag,
                "previous" => options.previous = flag,
                "timestamps" => options.timestamps = flag,
                "tailLines" => options.tail = Some(count()?),
                "limitBytes" => options.bytes_max = Some(count()?),
                "sinceSeconds" => options.since_seconds = Some(number()?),
                "sinceTime" => options.since = Some(value.parse().map_err(|_| wrong())?),
                "stream" => options.only_stderr = value == "Stderr",
                _ => {}
            }
        }
        Ok(options)
    }
}

impl Log {
    /// Returns the log of a container.
    ///
    /// # Errors
    /// There is no such container, or it has not begun.
    pub(super) fn of(pod: &Pod, container: &str, previous: bool) -> Result<Self, NoLog> {
        let refused = |code, text| Err(NoLog { code, text });
        let name = pod.name();
        let spec = &pod.spec;
        let mut containers = spec.containers.iter().chain(&spec.init_containers);
        let Some(spec) = containers.find(|it| it.name == *container) else {
            let text = format!("container {container:?} not found in pod {name:?}");
            return refused(404, text);
        };
        let status = &pod.status;
        let mut all = status
            .container_statuses
            .iter()
            .chain(&status.init_container_statuses);
        let status = all.find(|it| it.name == *container);
        let state = status.map(|it| state(it, previous));
        let Some(state) = state.flatten() else {
            let text = if previous {
                format!("previous terminated container {container:?} in pod {name:?} not found")
            } else {
                format!(
                    "container {container:?} in pod {name:?} is waiting to start: \
                     ContainerCreating"
                )
            };
            return refused(400, text);
        };
        Ok(Self::written(pod, spec, state))
    }

    fn written(pod: &Pod, container: &Container, state: &ContainerState) -> Self {
        let terminated = state.terminated.as_ref();
        let begin = match (&state.running, terminated) {
            (Some(running), _) => running.started_at,
            (None, Some(terminated)) => terminated.started_at,
            (None, None) => None,
        };
        let begin = begin.unwrap_or_default();
        let (name, image) = (&container.name, &container.image);
        let words = container.command.iter().chain(&container.args);
        let command = words.map(|it| &**it).collect::<Vec<_>>().join(" ");
        let command = match command.as_str() {
            "" => "that of the image",
            command => command,
        };
        let (namespace, pod_name, node) = (pod.namespace(), pod.name(), &pod.spec.node_name);
        let mut lines = vec![
            format!("kubist: simulated container {name:?} of pod {namespace}/{pod_name} on {node}"),
            format!("kubist: started at {begin}, no process runs"),
            format!("kubist: image: {image}"),
            format!("kubist: command: {command}"),
        ];
        let mut lines: Vec<_> = lines.drain(..).map(|it| (begin, it)).collect();
        if let Some(end) = terminated {
            let text = format!("kubist: ended with exit code {}", end.exit_code);
            lines.push((end.finished_at.unwrap_or(begin), text));
        }
        Self {
            lines,
            is_whole: terminated.is_some(),
        }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Shows the log as the options say.
    pub(super) fn shown(&self, options: &LogOptions, now: Time) -> String {
        if options.only_stderr {
            return String::new();
        }
        let since = options
            .since_seconds
            .map(|it| Time::from_unix(now.unix().saturating_sub(it)));
        let since = since.max(options.since);
        let recent = self.lines.iter();
        let recent: Vec<_> = recent
            .filter(|(at, _)| since.is_none_or(|since| *at >= since))
            .collect();
        let skipped = options.tail.map_or(0, |it| recent.len().saturating_sub(it));
        let mut text: String = recent[skipped..]
            .iter()
            .map(|(at, line)| format_line(*at, line, options))
            .collect();
        if let Some(most) = options.bytes_max {
            let mut end = most.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        text
    }

    /// Shows the lines from this one on.
    pub(super) fn further(&self, from: usize, options: &LogOptions) -> String {
        let lines = self.lines.get(from..).unwrap_or_default();
        if options.only_stderr {
            return String::new();
        }
        lines
            .iter()
            .map(|(at, line)| format_line(*at, line, options))
            .collect()
    }
}

fn format_line(at: Time, line: &str, options: &LogOptions) -> String {
    if options.timestamps {
        format!("{at} {line}\n")
    } else {
        format!("{line}\n")
    }
}

/// The state that the log is about.
fn state(status: &ContainerStatus, previous: bool) -> Option<&ContainerState> {
    let has_begun = |it: &&ContainerState| it.running.is_some() || it.terminated.is_some();
    let last = Some(&status.last_state).filter(has_begun);
    if previous {
        return last;
    }
    // A container that waits for its restart shows what it wrote before.
    Some(&status.state).filter(has_begun).or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{
        ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
    };

    fn pod() -> Pod {
        let mut pod = Pod::default();
        pod.metadata.name = "web-1".into();
        pod.metadata.namespace = "shop".into();
        pod.spec.node_name = "node-1".into();
        pod.spec.containers = vec![Container {
            name: "main".into(),
            image: "busybox".into(),
            command: vec!["sleep".into(), "5".into()],
            ..Container::default()
        }];
        pod.status.container_statuses = vec![ContainerStatus {
            name: "main".into(),
            ..ContainerStatus::default()
        }];
        pod
    }

    fn running(pod: &mut Pod, at: i64) {
        let started_at = Some(Time::from_unix(at));
        let running = Box::new(ContainerStateRunning { started_at });
        pod.status.container_statuses[0].state.running = Some(running);
    }

    fn ended(at: i64) -> ContainerState {
        ContainerState {
            terminated: Some(Box::new(ContainerStateTerminated {
                exit_code: 3,
                started_at: Some(Time::from_unix(10)),
                finished_at: Some(Time::from_unix(at)),
                ..ContainerStateTerminated::default()
            })),
            ..ContainerState::default()
        }
    }

    fn options(text: &str) -> LogOptions {
        let pairs = text.split('&').filter_map(|it| it.split_once('='));
        let pairs: Vec<_> = pairs
            .map(|(key, it)| (key.to_owned(), it.to_owned()))
            .collect();
        LogOptions::parse(&pairs).expect(text)
    }

    #[test]
    fn a_log_says_that_it_is_simulated_and_how_it_ended() {
        let mut pod = pod();
        running(&mut pod, 10);
        let log = Log::of(&pod, "main", false).expect("a log");
        let expected = "kubist: simulated container \"main\" of pod shop/web-1 on node-1\n\
                        kubist: started at 1970-01-01T00:00:10Z, no process runs\n\
                        kubist: image: busybox\n\
                        kubist: command: sleep 5\n";
        let now = Time::from_unix(100);
        assert_eq!(log.shown(&LogOptions::default(), now), expected);
        assert!(!log.is_whole);
        pod.status.container_statuses[0].state = ended(15);
        let ended = Log::of(&pod, "main", false).expect("a log");
        let further = ended.further(log.len(), &options("timestamps=true"));
        assert_eq!(
            further,
            "1970-01-01T00:00:15Z kubist: ended with exit code 3\n"
        );
        assert!(ended.is_whole);
        let shown = |text: &str| ended.shown(&options(text), now);
        assert_eq!(shown("tailLines=1"), "kubist: ended with exit code 3\n");
        assert_eq!(shown("sinceSeconds=88"), shown("tailLines=1"));
        assert_eq!(
            shown("sinceTime=1970-01-01T00:00:12Z"),
            shown("tailLines=1")
        );
        assert_eq!(shown("limitBytes=6"), "kubist");
        assert_eq!(shown("tailLines=0") + &shown("stream=Stderr"), "");
        assert!(LogOptions::parse(&[("tailLines".into(), "x".into())]).is_err());
    }

    #[test]
    fn what_has_not_begun_has_no_log() {
        let mut pod = pod();
        let refused = |pod: &Pod, name: &str, previous| {
            Log::of(pod, name, previous)
                .expect_err("there is none")
                .code
        };
        assert_eq!(refused(&pod, "other", false), 404);
        assert_eq!(refused(&pod, "main", false), 400);
        running(&mut pod, 10);
        assert_eq!(refused(&pod, "main", true), 400);
        let status = &mut pod.status.container_statuses[0];
        status.last_state = ended(20);
        status.state = ContainerState {
            waiting: Some(Box::new(ContainerStateWaiting::default())),
            ..ContainerState::default()
        };
        let before = Log::of(&pod, "main", true).expect("a log");
        assert_eq!(
            Log::of(&pod, "main", false),
            Ok(before),
            "it waits for its restart"
        );
    }
}
