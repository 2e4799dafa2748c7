//! The loops of a method: the natural loops of its flow of control, each named by the instruction it begins with.
//!
//! A jump back to an instruction that all ways to the jump lead through closes a loop; the loop is what can reach that
//! jump without passing the instruction again. So what precedes a `break` or `return` is behind the loop.

use recording::Block;
use rustc_hash::FxHashMap;

use super::code::{Code, Jumps, opcode};
use super::reader::Refusal;

/// For each position in a loop: which loop it is in, how deep, and whether iterations begin there.
pub type Loops = FxHashMap<usize, Block>;

/// Finds all loops.
pub fn loops(code: &Code) -> Result<Loops, Refusal> {
    let flow = Flow::of(code)?;
    let order = flow.order();
    let above = flow.dominators(&order);
    let mut bodies: Vec<(usize, Vec<bool>)> = Vec::new();
    for &from in &order.nodes {
        for &head in flow.next[from].iter().filter(|&&head| above.is_above(&order, head, from)) {
            let known = bodies.iter().position(|(other, _)| *other == head).unwrap_or_else(|| {
                let mut body = vec![false; flow.positions.len()];
                body[head] = true;
                bodies.push((head, body));
                bodies.len() - 1
            });
            flow.add_what_reaches(from, &mut bodies[known].1);
        }
    }
    // The smallest around an instruction is the innermost.
    bodies.sort_by_key(|(head, body)| (body.iter().filter(|&&is_in| is_in).count(), *head));
    let mut found = Loops::default();
    for (node, &position) in flow.positions.iter().enumerate() {
        let mut around = (1..).zip(&bodies).filter(|(_, (_, body))| body[node]);
        let Some((number, (head, _))) = around.next() else { continue };
        let block = Block::inside(number, 1 + around.count() as u32);
        found.insert(position, if *head == node { block.beginning() } else { block });
    }
    Ok(found)
}

/// Which instruction can follow which, by their numbers.
struct Flow {
    positions: Vec<usize>,
    next: Vec<Vec<usize>>,
    previous: Vec<Vec<usize>>,
}

/// Instructions that can be reached, each behind all that come before it on the first way to it.
struct Order {
    nodes: Vec<usize>,
    /// The place of each instruction in `nodes`.
    places: Vec<Option<usize>>,
}

/// The closest instruction that all ways to an instruction lead through, by places in the order.
struct Dominators(Vec<usize>);

impl Flow {
    fn of(code: &Code) -> Result<Flow, Refusal> {
        let instructions = code.instructions()?;
        let positions: Vec<usize> = instructions.iter().map(|instruction| instruction.at).collect();
        let number_at = |position: i64| {
            let position = usize::try_from(position).map_err(|_| Refusal::Malformed)?;
            positions.binary_search(&position).map_err(|_| Refusal::Malformed)
        };
        let mut next = vec![Vec::new(); positions.len()];
        for (number, instruction) in instructions.iter().enumerate() {
            let out = &mut next[number];
            match code.jumps(instruction)? {
                Jumps::None => {}
                Jumps::Short(target) | Jumps::Long(target) => out.push(number_at(target)?),
                Jumps::Switch(default, targets) => {
                    for target in std::iter::once(default).chain(targets) {
                        out.push(number_at(target)?);
                    }
                }
            }
            let goes_on = !matches!(
                instruction.opcode,
                opcode::GOTO
                    | opcode::GOTO_W
                    | opcode::TABLESWITCH
                    | opcode::LOOKUPSWITCH
                    | opcode::RET
                    | opcode::ATHROW
                    | opcode::IRETURN..=opcode::RETURN
            );
            if goes_on && number + 1 < positions.len() {
                out.push(number + 1);
            }
            for handler in &code.handlers {
                if (usize::from(handler.start)..usize::from(handler.end)).contains(&instruction.at) {
                    out.push(number_at(handler.target.into())?);
                }
            }
        }
        let mut previous = vec![Vec::new(); positions.len()];
        for (from, targets) in next.iter().enumerate() {
            targets.iter().for_each(|&to| previous[to].push(from));
        }
        Ok(Flow { positions, next, previous })
    }

    fn order(&self) -> Order {
        let mut visited = vec![false; self.positions.len()];
        let mut nodes = Vec::new();
        let mut path = Vec::new();
        if let Some(first) = visited.first_mut() {
            *first = true;
            path.push((0, 0));
        }
        while let Some((node, edge)) = path.last_mut() {
            match self.next[*node].get(*edge) {
                Some(&to) => {
                    *edge += 1;
                    if !std::mem::replace(&mut visited[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    nodes.push(*node);
                    path.pop();
                }
            }
        }
        nodes.reverse();
        let mut places = vec![None; self.positions.len()];
        for (place, &node) in nodes.iter().enumerate() {
            places[node] = Some(place);
        }
        Order { nodes, places }
    }

    /// After K. Cooper, T. Harvey, K. Kennedy, "A simple, fast dominance algorithm", 2001.
    fn dominators(&self, order: &Order) -> Dominators {
        const UNKNOWN: usize = usize::MAX;
        let mut above = vec![UNKNOWN; order.nodes.len()];
        if let Some(first) = above.first_mut() {
            *first = 0;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for place in 1..order.nodes.len() {
                let before = self.previous[order.nodes[place]].iter().filter_map(|&node| order.places[node]);
                let closest = before.filter(|&other| above[other] != UNKNOWN).reduce(|mut one, mut other| {
                    while one != other {
                        match one > other {
                            true => one = above[one],
                            false => other = above[other],
                        }
                    }
                    one
                });
                if let Some(closest) = closest.filter(|&closest| above[place] != closest) {
                    above[place] = closest;
                    changed = true;
                }
            }
        }
        Dominators(above)
    }

    /// Adds everything from which `from` can be reached without passing what is in the body already.
    fn add_what_reaches(&self, from: usize, body: &mut [bool]) {
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut body[node], true) {
                open.extend_from_slice(&self.previous[node]);
            }
        }
    }
}

impl Dominators {
    /// Do all ways to `node` lead through `other`?
    fn is_above(&self, order: &Order, other: usize, node: usize) -> bool {
        let (Some(other), Some(mut place)) = (order.places[other], order.places[node]) else { return false };
        while place > other {
            place = self.0[place];
        }
        place == other
    }
}

#[cfg(test)]
mod tests {
    use super::super::Handler;
    use super::*;

    const NOP: u8 = 0;
    const IFEQ: u8 = 153;

    fn found(bytes: &[u8], handlers: Vec<Handler>) -> Vec<(usize, u32, u32, bool)> {
        let code =
            Code { max_stack: 1, max_locals: 1, bytes: bytes.to_vec(), handlers, attributes: Vec::new() };
        let mut found: Vec<_> = loops(&code)
            .unwrap()
            .into_iter()
            .map(|(at, block)| (at, block.number(), block.depth(), block.begins_iteration()))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn loops_within_loops_are_told_apart() {
        // 0: nop; 1: if → 14; 4: if → 11; 7: nop; 8: goto 4; 11: goto 1; 14: return
        let bytes = [
            NOP,
            IFEQ,
            0,
            13,
            IFEQ,
            0,
            7,
            NOP,
            opcode::GOTO,
            0xff,
            0xfc,
            opcode::GOTO,
            0xff,
            0xf6,
            opcode::RETURN,
        ];
        let expected =
            [(1, 2, 1, true), (4, 1, 2, true), (7, 1, 2, false), (8, 1, 2, false), (11, 2, 1, false)];
        assert_eq!(found(&bytes, Vec::new()), expected);
    }

    #[test]
    fn what_leaves_a_loop_is_behind_it() {
        // 0: if → 5; 3: nop; 4: return; 5: goto 0
        let bytes = [IFEQ, 0, 5, NOP, opcode::RETURN, opcode::GOTO, 0xff, 0xfb];
        assert_eq!(found(&bytes, Vec::new()), [(0, 1, 1, true), (5, 1, 1, false)]);
    }

    #[test]
    fn a_loop_can_go_through_a_handler() {
        // 0: nop; 1: nop; 2: return; 3: pop; 4: goto 0. The instruction at 1 may throw.
        let bytes = [NOP, NOP, opcode::RETURN, opcode::POP, opcode::GOTO, 0xff, 0xfc];
        let handlers = vec![Handler { start: 1, end: 2, target: 3, catches: 0 }];
        let expected = [(0, 1, 1, true), (1, 1, 1, false), (3, 1, 1, false), (4, 1, 1, false)];
        assert_eq!(found(&bytes, handlers), expected);
    }

    #[test]
    fn straight_code_has_none() {
        assert_eq!(found(&[NOP, IFEQ, 0, 3, opcode::RETURN], Vec::new()), []);
        assert_eq!(found(&[], Vec::new()), []);
    }
}
