//! The plan of a shape: how to read the facts of every line that has it.

use std::borrow::Cow;
use std::rc::Rc;

use super::plan::{Plan, Step, group_key, joined, text_fact};
use super::{Fact, Facts, Standing};
use crate::stream::event::Node;
use crate::profile::TextMode;
use crate::fast::{Source, Sources, Values};

/// A plan whose values come from the lines of a shape.
#[derive(Debug)]
pub struct Recipe {
    tag: Rc<str>,
    standing: Standing,
    session: Option<String>,
    time: Option<Source>,
    steps: Vec<Ingredient>,
}

#[derive(Debug)]
enum Ingredient {
    SessionStart,
    Boundary,
    Reopen,
    Epilogue,
    Group(Vec<Option<Source>>),
    Text(TextMode, Vec<Source>),
}

impl Recipe {
    /// The recipe of a plan, if it is repeatable.
    pub fn new(plan: &Plan<'_>, sources: &Sources<'_>) -> Option<Self> {
        let source = |node: &Node<'_>| match node {
            Node::Tape(cursor) => Some(sources.of(*cursor)),
            Node::Tree(_) => None,
        };
        let step = |step: &Step<'_>| {
            Some(match step {
                Step::Ready(_) => return None,
                Step::SessionStart => Ingredient::SessionStart,
                Step::Boundary => Ingredient::Boundary,
                Step::Reopen => Ingredient::Reopen,
                Step::Epilogue => Ingredient::Epilogue,
                Step::Group(parts) => {
                    let part = |part: &Option<Node<'_>>| match part {
                        Some(node) => Some(Some(part_of_key(node, source(node)?))),
                        None => Some(None),
                    };
                    Ingredient::Group(parts.iter().map(part).collect::<Option<_>>()?)
                }
                Step::Text { mode, pieces, .. } => {
                    Ingredient::Text(*mode, pieces.iter().map(source).collect::<Option<_>>()?)
                }
            })
        };
        Some(Self {
            tag: plan.tag.clone(),
            standing: plan.standing,
            session: plan.session.as_deref().map(str::to_owned),
            time: plan.time.as_ref().and_then(source),
            steps: plan.steps.iter().map(step).collect::<Option<_>>()?,
        })
    }

    /// The facts of a line of the shape.
    #[inline]
    pub fn facts<'e>(&'e self, line: u64, offset: u64, values: &Values<'e>) -> Facts<'e> {
        let Self { tag, standing, session, time, steps } = self;
        let mut facts = Facts::new(line, offset, tag.clone(), *standing);
        facts.session = session.as_deref().map(Cow::Borrowed);
        facts.time = time.as_ref().map(|time| values.number(time));
        for step in steps {
            // Each is made where it is to stay: a copy would have to wait for its parts.
            match step {
                Ingredient::SessionStart => facts.push(Fact::SessionStart),
                Ingredient::Boundary => facts.push(Fact::Boundary),
                Ingredient::Reopen => facts.push(Fact::Reopen),
                Ingredient::Epilogue => facts.push(Fact::Epilogue),
                Ingredient::Group(parts) => {
                    let text = |it: &'e Option<Source>| it.as_ref().map(|it| values.text(it));
                    let parts = parts.iter().map(|it| text(it).unwrap_or_default());
                    facts.push(Fact::Group(group_key(parts)));
                }
                Ingredient::Text(mode, pieces) => {
                    let text = match &pieces[..] {
                        [piece] => values.text(piece),
                        pieces => joined(pieces.iter().map(|it| values.text(it))),
                    };
                    facts.push(text_fact(*mode, text));
                }
            }
        }
        facts
    }
}

/// A number of a key that is the same in all lines is told as it is read, not as it is written.
fn part_of_key(node: &Node<'_>, source: Source) -> Source {
    match (source, node.scalar_text()) {
        (Source::Literal(_), Some(text)) => Source::Literal(text.into_owned()),
        (source, _) => source,
    }
}
