//! Validation of probes and lifecycle hooks.

use crate::pod_spec::stop_signal;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{
    Container, ExecAction, HTTPGetAction, LifecycleHandler, PodSpec, Probe, SleepAction,
};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// Checks the probes and hooks of a long-running container.
pub(crate) fn check_container(
    errors: &mut Errors,
    container: &Container,
    spec: &PodSpec,
    path: &FieldPath,
) {
    if let Some(lifecycle) = &container.lifecycle {
        let path = path.child("lifecycle");
        for (name, handler) in [
            ("postStart", &lifecycle.post_start),
            ("preStop", &lifecycle.pre_stop),
        ] {
            if let Some(handler) = handler {
                check_handler(errors, handler, spec, &path.child(name));
            }
        }
        if let Some(signal) = &lifecycle.stop_signal {
            stop_signal::check(errors, signal, spec, &path.child("stopSignal"));
        }
    }
    for (name, probe, once) in [
        ("livenessProbe", &container.liveness_probe, true),
        ("readinessProbe", &container.readiness_probe, false),
        ("startupProbe", &container.startup_probe, true),
    ] {
        let Some(probe) = probe else {
            continue;
        };
        let path = path.child(name);
        check_probe(errors, probe, &path);
        if !once && let Some(seconds) = probe.termination_grace_period_seconds {
            let path = path.child("terminationGracePeriodSeconds");
            let detail = "must not be set for readinessProbes";
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
        if once && probe.success_threshold != 1 {
            let path = path.child("successThreshold");
            errors.push(FieldError::invalid(
                &path,
                probe.success_threshold,
                "must be 1",
            ));
        }
    }
}

fn check_probe(errors: &mut Errors, probe: &Probe, path: &FieldPath) {
    let mut handlers = Handlers {
        errors,
        path,
        count: 0,
    };
    handlers.exec(probe.exec.as_deref());
    handlers.http_get(probe.http_get.as_deref());
    handlers.tcp_socket(probe.tcp_socket.as_deref());
    if let Some(grpc) = &probe.grpc
        && handlers.next("grpc")
    {
        let path = path.child("grpc").child("port");
        rules::port_number(handlers.errors, grpc.port, &path);
    }
    handlers.finish();
    for (name, value) in [
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ] {
        rules::non_negative(errors, value.into(), &path.child(name));
    }
    if let Some(seconds) = probe.termination_grace_period_seconds.filter(|&it| it <= 0) {
        let path = path.child("terminationGracePeriodSeconds");
        errors.push(FieldError::invalid(
            &path,
            seconds,
            "must be greater than 0",
        ));
    }
}

fn check_handler(
    errors: &mut Errors,
    handler: &LifecycleHandler,
    spec: &PodSpec,
    path: &FieldPath,
) {
    let mut handlers = Handlers {
        errors,
        path,
        count: 0,
    };
    handlers.exec(handler.exec.as_deref());
    handlers.http_get(handler.http_get.as_deref());
    handlers.tcp_socket(handler.tcp_socket.as_deref());
    handlers.sleep(handler.sleep.as_deref(), spec);
    handlers.finish();
}

/// Checks that there is exactly one handler.
struct Handlers<'a> {
    errors: &'a mut Errors,
    path: &'a FieldPath,
    count: usize,
}

impl Handlers<'_> {
    /// Returns false and adds an error if there already was a handler.
    fn next(&mut self, name: &str) -> bool {
        self.count += 1;
        if self.count > 1 {
            let detail = "may not specify more than 1 handler type";
            self.errors
                .push(FieldError::forbidden(&self.path.child(name), detail));
        }
        self.count == 1
    }

    fn exec(&mut self, action: Option<&ExecAction>) {
        if let Some(action) = action
            && self.next("exec")
            && action.command.is_empty()
        {
            let path = self.path.child("exec").child("command");
            self.errors.push(FieldError::required(&path, ""));
        }
    }

    fn http_get(&mut self, action: Option<&HTTPGetAction>) {
        let Some(action) = action else {
            return;
        };
        if !self.next("httpGet") {
            return;
        }
        let path = self.path.child("httpGet");
        rules::required(self.errors, &action.path, &path.child("path"));
        rules::port(self.errors, &action.port, &path.child("port"));
        rules::one_of(
            self.errors,
            &action.scheme,
            &["HTTP", "HTTPS"],
            &path.child("scheme"),
        );
        for header in &action.http_headers {
            let path = path.child("httpHeaders");
            rules::text(
                self.errors,
                &header.name,
                &path,
                validate_name::http_header_name,
            );
        }
    }

    fn tcp_socket(&mut self, action: Option<&kubist_api::core::v1::TCPSocketAction>) {
        if let Some(action) = action
            && self.next("tcpSocket")
        {
            let path = self.path.child("tcpSocket").child("port");
            rules::port(self.errors, &action.port, &path);
        }
    }

    /// Checks that a hook sleeps no longer than the Pod's grace period.
    fn sleep(&mut self, action: Option<&SleepAction>, spec: &PodSpec) {
        let Some(action) = action else {
            return;
        };
        if self.next("sleep")
            && let Some(grace) = spec.termination_grace_period_seconds
            && !(0..=grace).contains(&action.seconds)
        {
            let path = self.path.child("sleep");
            let detail = format!(
                "must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            );
            self.errors
                .push(FieldError::invalid(&path, action.seconds, detail));
        }
    }

    fn finish(self) {
        if self.count == 0 {
            self.errors.push(FieldError::required(
                self.path,
                "must specify a handler type",
            ));
        }
    }
}
