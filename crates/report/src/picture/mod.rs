//! The picture of a finding: its threads, time downwards, the accesses with their values, and an arrow wherever a
//! variable passes from one thread to another.
//!
//! It is drawn twice, for wide and for narrow places, with classes instead of colours: whoever shows it brings the
//! style. Text is measured as if every font were [`CHARACTER`] wide, so it is set in a monospaced one.

mod columns;
mod lanes;

use crate::markup::{Element, Node, classed, element};
use crate::model::{Access, Finding};
use crate::visible::{cut, visible};
use crate::wording::{self, Places};

/// More threads than these make columns too narrow to read.
const MOST_COLUMNS: usize = 4;

/// The width in which a picture with many threads is drawn, as wide as that with columns at most is.
const WIDE_LANES: u32 = 900;

/// The width of a page, and of one of two pictures side by side on it.
const PAGE: u32 = 1096;
const HALF: u32 = 600;

/// A phone held upright shows about so many pixels.
const NARROW_LANES: u32 = 340;

/// The width of a character in tenths of a pixel: monospaced fonts have 0.6 em, and the text is set in 13 px.
const CHARACTER: u32 = 78;

const LINE_HEIGHT: u32 = 18;

/// The distance of a text from the edge of its box.
const PADDING: u32 = 10;

/// Colours are told apart up to so many threads or variables, then they repeat. Numbers and names never do.
pub(crate) const COLOURS: usize = 4;

/// Draws a finding for a place about as wide as a screen, with a margin around it; `None` if there is nothing to draw.
pub(crate) fn wide(finding: &Finding, margin: u32) -> Option<Element> {
    Some(Picture { margin, ..Picture::of(finding)? }.wide())
}

/// The same for half of that place, where another picture is beside it.
pub(crate) fn half(finding: &Finding) -> Option<Element> {
    Some(Picture { room: HALF, ..Picture::of(finding)? }.wide())
}

/// Draws a finding for a place as narrow as a phone; `None` if there is nothing to draw.
pub(crate) fn narrow(finding: &Finding) -> Option<Element> {
    Some(Picture::of(finding)?.narrow())
}

/// Draws the passing run of a finding, wide and narrow, with the numbers that its accesses have in the failing run.
pub(crate) fn passing(finding: &Finding) -> Option<[Element; 2]> {
    let (_, passing) = finding.in_passing_run()?;
    // Threads stay in their columns, whoever comes first.
    let mut picture = Picture::with_threads(&passing, &wording::threads(finding))?;
    for (step, number) in picture.steps.iter_mut().zip(finding.in_failing_order()?) {
        step.access = number;
    }
    if fits_half(finding) {
        picture.room = HALF;
    }
    Some([picture.wide(), picture.narrow()])
}

/// Whether the columns of a finding are readable in half of the place.
pub(crate) fn fits_half(finding: &Finding) -> bool {
    wording::threads(finding).len() <= 2
}

struct Picture {
    title: String,
    margin: u32,
    /// The width that all columns together may take.
    room: u32,
    /// The titles of the threads, in the order in which they first act.
    threads: Vec<String>,
    steps: Vec<Step>,
    handovers: Vec<Handover>,
}

/// An access as it is drawn.
struct Step {
    /// Its index in the finding.
    access: usize,
    thread: usize,
    variable: usize,
    place: String,
    source: String,
    effect: String,
    note: Option<String>,
    /// All of it in one line, for those who do not see the picture.
    title: String,
}

/// A variable passes from the thread of one step to that of a later one.
struct Handover {
    from: usize,
    to: usize,
    variable: usize,
}

impl Picture {
    fn wide(&self) -> Element {
        if self.threads.len() <= MOST_COLUMNS { columns::draw(self) } else { lanes::draw(self, WIDE_LANES) }
    }

    fn narrow(&self) -> Element {
        lanes::draw(self, NARROW_LANES)
    }

    fn of(finding: &Finding) -> Option<Self> {
        Picture::with_threads(finding, &wording::threads(finding))
    }

    /// The threads are those of the columns, in their order.
    fn with_threads(finding: &Finding, threads: &[u32]) -> Option<Self> {
        if finding.accesses.is_empty() {
            return None;
        }
        let places = Places::of(finding);
        let variables = wording::variables(finding);
        let step = |(index, access): (usize, &Access)| Step {
            access: index,
            thread: threads.iter().position(|thread| *thread == access.thread).unwrap_or(0),
            variable: variables.iter().position(|name| *name == access.variable).unwrap_or(0),
            place: places.label(access),
            source: wording::source_line(access),
            effect: match access.variable.as_str() {
                "" => wording::effect_in(finding, index),
                variable => format!("{}  {variable}", wording::effect_in(finding, index)),
            },
            note: wording::since_last_time(finding, index),
            title: wording::access_title(access),
        };
        let steps: Vec<Step> = finding.accesses.iter().enumerate().map(step).collect();
        Some(Picture {
            title: wording::headline(finding).replace('`', ""),
            margin: 0,
            room: PAGE,
            threads: threads.iter().map(|thread| wording::thread_title(finding, *thread)).collect(),
            handovers: handovers(finding)
                .into_iter()
                .map(|[from, to]| Handover { from, to, variable: steps[to].variable })
                .collect(),
            steps,
        })
    }

    fn frame(&self, width: u32, height: u32) -> Element {
        let start = -i64::from(self.margin);
        let [width, height] = [width, height].map(|size| size + 2 * self.margin);
        element("svg")
            .attribute("viewBox", format!("{start} {start} {width} {height}"))
            .attribute("width", width)
            .attribute("height", height)
            .attribute("role", "group")
            .attribute("aria-label", &self.title)
    }
}

/// Where a variable passes from one thread to another: the two accesses, by index.
pub(crate) fn handovers(finding: &Finding) -> Vec<[usize; 2]> {
    let accesses = &finding.accesses;
    let to = |to: usize| {
        let from = accesses[..to].iter().rposition(|earlier| earlier.variable == accesses[to].variable)?;
        (accesses[from].thread != accesses[to].thread).then_some([from, to])
    };
    (0..accesses.len()).filter_map(to).collect()
}

impl Step {
    /// The group that everything about a step is drawn into. It can be pointed at and reached by keyboard.
    fn group(&self) -> Element {
        classed("g", "access")
            .attribute("data-access", self.access)
            .attribute("tabindex", 0)
            .attribute("aria-label", format!("{}. {}", self.access + 1, self.title))
    }

    /// Its lines of text with their classes; the first says where it is.
    fn lines(&self) -> Vec<(String, &str)> {
        let place = ("place".to_owned(), self.place.as_str());
        let source = (!self.source.is_empty()).then(|| ("source".to_owned(), self.source.as_str()));
        let effect = (format!("effect v{}", self.variable % COLOURS), self.effect.as_str());
        let note = self.note.as_deref().map(|note| ("note".to_owned(), note));
        [place].into_iter().chain(source).chain([effect]).chain(note).collect()
    }

    fn badge(&self, x: u32, y: u32) -> [Node; 2] {
        let colour = self.thread % COLOURS;
        let circle = classed("circle", &format!("badge t{colour}"));
        let number = classed("text", "number").attribute("x", x).attribute("y", y + 4);
        [
            circle.attribute("cx", x).attribute("cy", y).attribute("r", 9).into(),
            number.text(&(self.access + 1).to_string()).into(),
        ]
    }
}

impl Handover {
    /// An arrow along a path that ends at a point, entering it to the right, to the left or downwards.
    fn arrow(&self, path: String, [x, y]: [u32; 2], entering: Entering) -> Element {
        let head = match entering {
            Entering::Rightwards => format!("M{x} {y} l-9 -5 v10 z"),
            Entering::Leftwards => format!("M{x} {y} l9 -5 v10 z"),
        };
        classed("g", &format!("handover v{}", self.variable % COLOURS))
            .child(classed("path", "line").attribute("d", path))
            .child(classed("path", "head").attribute("d", head))
    }
}

#[derive(Clone, Copy)]
enum Entering {
    Rightwards,
    Leftwards,
}

/// A line of text that keeps within a width, all of it drawn or its end left out.
fn line(class: &str, content: &str, [x, y]: [u32; 2], width: u32) -> Element {
    let room = (width * 10 / CHARACTER) as usize;
    let content = visible(content);
    classed("text", class).attribute("x", x).attribute("y", y).text(&cut(&content, room))
}
