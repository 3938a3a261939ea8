//! Where an event names things: its tag, its session, its calls and their tools, the model.

use super::FactReader;
use super::tag_rules::holding;
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
        let calls = holding(&rules.call_start, &profile.calls.start, root);
        let ends = holding(&rules.completion, &profile.calls.completion, root);
        for rule in calls.chain(ends) {
            rule.of.objects(root).for_each(|scope| call(profile, rule, scope, &mut add));
        }
        for rule in holding(&rules.corrections, &profile.calls.corrections, root) {
            rule.of.objects(root).for_each(|scope| {
                add(scope, &rule.id);
                tools(&rule.tool, scope, &mut add);
            });
        }
        let work = &profile.calls.background;
        let starts = holding(&rules.background_start, &work.start, root);
        let ends = holding(&rules.background_end, &work.end, root);
        for rule in starts.chain(ends) {
            rule.of.objects(root).for_each(|scope| add(scope, &rule.id));
        }
        for rule in holding(&rules.text, &profile.text.rules, root) {
            // An event without a text may name its group, too.
            let of_event = rule.group.iter().filter(|path| path.is_of_event());
            of_event.for_each(|path| add(event, std::slice::from_ref(path)));
            rule.of.objects(root).for_each(|scope| add(scope, &rule.group));
        }
        for rule in holding(&rules.boundaries, &profile.text.ends_at, root) {
            add(event, &rule.group);
        }
        for rule in holding(&rules.values, &profile.values, root) {
            let path = std::slice::from_ref(&rule.value);
            rule.of.objects(root).for_each(|scope| add(scope, path));
        }
        for rule in holding(&rules.run_facts, &profile.facts, root) {
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
