//! Where an event names things: its tag, its session, its calls and their tools, the model.

use super::FactReader;
use super::tag_rules::OpenRule;
use crate::json::JsonRef;
use crate::profile::path::{Path, Scope};
use crate::profile::{CallRule, Profile, RunFact};

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
        let calls = holding(&rules.call_start, root).map(|rule| &profile.calls.start[rule]);
        let ends = holding(&rules.completion, root).map(|rule| &profile.calls.completion[rule]);
        for rule in calls.chain(ends) {
            rule.of.objects(root).for_each(|scope| call(profile, rule, scope, &mut add));
        }
        for rule in holding(&rules.corrections, root).map(|rule| &profile.calls.corrections[rule]) {
            rule.of.objects(root).for_each(|scope| add(scope, &rule.id));
        }
        let work = &profile.calls.background;
        let starts = holding(&rules.background_start, root).map(|rule| &work.start[rule]);
        let ends = holding(&rules.background_end, root).map(|rule| &work.end[rule]);
        for rule in starts.chain(ends) {
            rule.of.objects(root).for_each(|scope| add(scope, &rule.id));
        }
        for rule in holding(&rules.text, root).map(|rule| &profile.text.rules[rule]) {
            // An event without a text may name its group, too.
            let of_event = rule.group.iter().filter(|path| path.is_of_event());
            of_event.for_each(|path| add(event, std::slice::from_ref(path)));
            rule.of.objects(root).for_each(|scope| add(scope, &rule.group));
        }
        for rule in holding(&rules.boundaries, root) {
            add(event, &profile.text.ends_at[rule].group);
        }
        for rule in holding(&rules.values, root).map(|rule| &profile.values[rule]) {
            let path = std::slice::from_ref(&rule.value);
            rule.of.objects(root).for_each(|scope| add(scope, path));
        }
        for rule in holding(&rules.run_facts, root).map(|rule| &profile.facts[rule]) {
            if let Some(model) = rule.set.get(&RunFact::Model) {
                rule.of.objects(root).for_each(|scope| names.extend(model.values(scope)));
            }
        }
        names
    }
}

/// The numbers of the rules that apply to the event.
fn holding<'r>(rules: &'r [OpenRule], root: JsonRef<'r>) -> impl Iterator<Item = usize> {
    rules.iter().filter(move |open| open.when.hold(root)).map(|open| open.rule)
}

fn call<'e>(
    profile: &Profile,
    rule: &CallRule,
    scope: Scope<'e>,
    add: &mut impl FnMut(Scope<'e>, &[Path]),
) {
    add(scope, &rule.id);
    let tools = rule.tool.as_ref().unwrap_or(&profile.calls.tool);
    let values = tools.iter().filter_map(|tool| tool.value.as_ref());
    values.for_each(|path| add(scope, std::slice::from_ref(path)));
}
