//! Where an event names things: its tag, its session, its calls and their tools, the model.

use super::FactReader;
use crate::json::JsonRef;
use crate::profile::path::{Path, Scope};
use crate::profile::{CallRule, Profile, RunFact, ToolName};

impl FactReader {
    /// The values of an event that name something, or say when it was.
    pub(crate) fn names<'e>(&mut self, profile: &Profile, root: JsonRef<'e>) -> Vec<JsonRef<'e>> {
        let rules = self.tags.rules(profile, root);
        let mut names = Vec::new();
        let mut add = |scope: Scope<'e>, paths: &[Path]| {
            names.extend(paths.iter().filter_map(|path| path.find(scope)));
        };
        let event = Scope::from(root);
        add(event, &profile.tags.at);
        add(event, &profile.session.id);
        add(event, &profile.session.times);
        let single = [&profile.session.time, &profile.versions.at];
        single.into_iter().flatten().for_each(|path| add(event, std::slice::from_ref(path)));
        let halves = rules.call_start(profile, root).chain(rules.completion(profile, root));
        for rule in halves {
            rule.of.objects(root).for_each(|scope| call(profile, rule, scope, &mut add));
        }
        for rule in rules.corrections(profile, root) {
            rule.of.objects(root).for_each(|scope| {
                add(scope, &rule.id);
                tools(&rule.tool, scope, &mut add);
            });
        }
        let starts = rules.background_start(profile, root);
        for rule in starts.chain(rules.background_end(profile, root)) {
            rule.of.objects(root).for_each(|scope| add(scope, &rule.id));
        }
        for rule in rules.text(profile, root) {
            // An event without a text may name its group, too.
            let of_event = rule.group.iter().filter(|path| path.is_of_event());
            of_event.for_each(|path| add(event, std::slice::from_ref(path)));
            rule.of.objects(root).for_each(|scope| add(scope, &rule.group));
        }
        for rule in rules.boundaries(profile, root) {
            add(event, &rule.group);
        }
        for rule in rules.values(profile, root) {
            let path = std::slice::from_ref(&rule.value);
            rule.of.objects(root).for_each(|scope| add(scope, path));
        }
        for rule in rules.run_facts(profile, root) {
            if let Some(model) = rule.set.get(&RunFact::Model) {
                rule.of.objects(root).for_each(|scope| names.extend(model.values(scope)));
            }
        }
        names
    }
}

fn call<'e>(
    profile: &Profile,
    rule: &CallRule,
    scope: Scope<'e>,
    add: &mut impl FnMut(Scope<'e>, &[Path]),
) {
    add(scope, &rule.id);
    tools(rule.tool.as_ref().unwrap_or(&profile.calls.tool), scope, add);
}

fn tools<'e>(names: &[ToolName], scope: Scope<'e>, add: &mut impl FnMut(Scope<'e>, &[Path])) {
    let values = names.iter().filter_map(|tool| tool.value.as_ref());
    values.for_each(|path| add(scope, std::slice::from_ref(path)));
}
