//! Some threads read the same text and intern its words, holding on to a word only while they read it. The crate counts a
//! word's users without its lock: two threads that let go of the same word at the same time can both be counted out
//! before either of them looks again whether somebody is left. The first frees the word, the second uses it.

use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;

use internment::ArcIntern;

const READERS: usize = 3;
const WORDS: usize = 250;
const TIMES_EACH: usize = 20;

#[inline(never)]
fn read_word(place: usize) -> usize {
    let word = ArcIntern::new(format!("word {}", place / TIMES_EACH));
    word.len()
}

fn read_text(start: &Barrier) -> usize {
    start.wait();
    (0..WORDS).map(read_word).sum()
}

fn main() -> ExitCode {
    let start = Barrier::new(READERS);
    let letters: Vec<usize> = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(|| read_text(&start))).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    println!("{} letters", letters[0]);
    if letters.iter().all(|&count| count == letters[0]) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
