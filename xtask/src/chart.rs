//! Charts as SVG, for the documents in docs/: lines and boxes over one pair of axes. The same data give the same bytes.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

/// Okabe and Ito's colours, which people with any kind of colour vision tell apart.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Lines beyond the number of colours are told apart by their dashes.
const DASHES: [&str; 3] = ["", "6 3", "2 3"];

/// What is drawn.
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    pub boxes: Vec<Box>,
}

/// An axis with its marks, ascending; the first and the last are its ends.
pub struct Axis {
    pub label: String,
    pub marks: Vec<f64>,
    pub scale: Scale,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Every mark is as far from the next, and what lies between two marks is between them.
    Even,
}

pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Whether to connect the points.
    pub connected: bool,
}

/// A box plot at a place of the horizontal axis.
pub struct Box {
    pub x: f64,
    /// The smallest, the quartiles with the median between them, and the largest.
    pub values: [f64; 5],
}

impl Axis {
    /// A value's place between 0 and 1.
    fn place(&self, value: f64) -> f64 {
        let (Some(first), Some(last)) = (self.marks.first(), self.marks.last()) else { return 0.0 };
        if self.scale == Scale::Linear {
            return (value - first) / (last - first);
        }
        let steps = (self.marks.len() - 1).max(1) as f64;
        let after = self.marks.partition_point(|mark| *mark <= value);
        match (after.checked_sub(1).and_then(|before| self.marks.get(before)), self.marks.get(after)) {
            (Some(before), Some(next)) => ((after - 1) as f64 + (value - before) / (next - before)) / steps,
            (Some(_), None) => 1.0,
            _ => 0.0,
        }
    }
}

impl Chart {
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        text(&mut svg, (LEFT, 22.0), "font-size=\"15\" font-weight=\"bold\"", &self.title);
        self.axes(&mut svg);
        for line in self.boxes.iter().map(|values| self.box_plot(values)) {
            svg += &line;
        }
        for (index, line) in self.lines.iter().enumerate() {
            svg += &self.line(index, line);
        }
        svg + "</svg>\n"
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        (LEFT + self.x.place(x) * width, TOP + (1.0 - self.y.place(y)) * height)
    }

    fn axes(&self, svg: &mut String) {
        let (left, right, top, bottom) = (LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM);
        for &mark in &self.y.marks {
            let y = TOP + (1.0 - self.y.place(mark)) * (bottom - top);
            let _ = writeln!(svg, "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#ddd\"/>");
            text(svg, (left - 8.0, y + 4.0), "text-anchor=\"end\"", &number(mark));
        }
        for &mark in &self.x.marks {
            let x = LEFT + self.x.place(mark) * (right - left);
            let _ = writeln!(svg, "<path d=\"M{x:.1} {bottom}v5\" stroke=\"#555\"/>");
            text(svg, (x, bottom + 19.0), "text-anchor=\"middle\"", &number(mark));
        }
        let _ = writeln!(svg, "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#555\"/>");
        text(svg, ((left + right) / 2.0, HEIGHT - 12.0), "text-anchor=\"middle\"", &self.x.label);
        let middle = (top + bottom) / 2.0;
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\"");
        text(svg, (16.0, middle), &turned, &self.y.label);
    }

    fn line(&self, index: usize, line: &Line) -> String {
        let colour = COLOURS[index % COLOURS.len()];
        let dashes = DASHES[index / COLOURS.len() % DASHES.len()];
        let mut svg = String::new();
        if line.connected {
            let points: Vec<String> = line
                .points
                .iter()
                .map(|&(x, y)| self.at(x, y))
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" \
                 stroke-dasharray=\"{dashes}\"/>",
                points.join(" ")
            );
        }
        // Many points make a curve by themselves.
        if !line.connected || line.points.len() <= 12 {
            for (x, y) in line.points.iter().map(|&(x, y)| self.at(x, y)) {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"/>");
            }
        }
        let (x, y) = (WIDTH - RIGHT + 14.0, TOP + 10.0 + 18.0 * index as f64);
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {y}h22\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\"/>"
        );
        text(&mut svg, (x + 28.0, y + 4.0), "", &line.name);
        svg
    }

    fn box_plot(&self, plot: &Box) -> String {
        let [least, lower, median, upper, most] = plot.values.map(|value| self.at(plot.x, value).1);
        let (x, _) = self.at(plot.x, plot.values[0]);
        let (left, colour) = (x - 14.0, COLOURS[0]);
        format!(
            "<path d=\"M{x:.1} {least:.1}V{lower:.1}M{x:.1} {upper:.1}V{most:.1}M{left:.1} {least:.1}h28\
             M{left:.1} {most:.1}h28\" stroke=\"#555\"/>\n\
             <rect x=\"{left:.1}\" y=\"{upper:.1}\" width=\"28\" height=\"{:.1}\" fill=\"{colour}\" \
             fill-opacity=\"0.35\" stroke=\"{colour}\"/>\n\
             <path d=\"M{left:.1} {median:.1}h28\" stroke=\"#000\" stroke-width=\"2\"/>\n",
            (lower - upper).max(1.0)
        )
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), attributes: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{words}</text>");
}

fn number(value: f64) -> String {
    // Enough places for marks such as 0.25, and none for whole numbers.
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Round marks from 0 to at least `most`, about five of them.
pub fn round_marks(most: f64) -> Vec<f64> {
    let rough = (most / 5.0).max(f64::MIN_POSITIVE);
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(magnitude);
    (0..=(most / step).ceil() as usize).map(|index| index as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(marks: &[f64], scale: Scale) -> Axis {
        Axis { label: "runs & <time>".to_owned(), marks: marks.to_vec(), scale }
    }

    #[test]
    fn values_find_their_place() {
        let linear = axis(&[0.0, 50.0, 100.0], Scale::Linear);
        assert_eq!([0.0, 25.0, 100.0].map(|value| linear.place(value)), [0.0, 0.25, 1.0]);
        let even = axis(&[1.0, 10.0, 100.0], Scale::Even);
        assert_eq!([1.0, 5.5, 10.0, 55.0, 100.0].map(|value| even.place(value)), [0.0, 0.25, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn marks_are_round_and_reach_the_top() {
        assert_eq!(round_marks(97.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(round_marks(4.0), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!([20.0, 0.25, 1.5].map(number), ["20", "0.25", "1.5"]);
    }

    #[test]
    fn a_chart_is_well_formed_and_escapes_words() {
        let chart = Chart {
            title: "a < b".to_owned(),
            x: axis(&[0.0, 1.0], Scale::Linear),
            y: axis(&[0.0, 1.0], Scale::Linear),
            lines: vec![Line {
                name: "x&y".to_owned(),
                points: vec![(0.0, 0.0), (1.0, 1.0)],
                connected: true,
            }],
            boxes: vec![Box { x: 0.5, values: [0.0, 0.2, 0.4, 0.6, 1.0] }],
        };
        let svg = chart.svg();
        assert!(svg.contains("a &lt; b") && svg.contains("x&amp;y") && svg.contains("runs &amp; &lt;time>"));
        // The line goes from the lower left to the upper right corner of the plot.
        assert!(svg.contains("points=\"64.0,348.0 590.0,40.0\""), "{svg}");
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    }
}
