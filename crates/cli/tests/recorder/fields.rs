//! Small fields that share a word, against the same program with a word for each.

use crate::differential::Random;
use crate::kit::c;

/// Fields of two bytes and of one, so that halves of words are split, and each size is used beside the other.
const FIELDS: [(&str, &str); 8] = [
    ("a", "short"),
    ("b", "char"),
    ("c", "char"),
    ("d", "char"),
    ("e", "char"),
    ("f", "short"),
    ("g", "short"),
    ("h", "short"),
];

/// What a thread does when it is its turn, each access at a line of its own.
fn step(random: &mut Random, name: &str, number: usize) -> String {
    let mut text = String::new();
    for at in 0..1 + random.below(5) {
        let field = FIELDS[random.below(FIELDS.len())].0;
        let rounds = 1 + random.below(3);
        let access = if random.below(2) == 0 {
            format!("record.{field} = i;")
        } else {
            format!("sink = record.{field};")
        };
        text += &format!("for (int i = 0; i < {rounds}; i++)\n{access} //@{name}{number}_{at}\n");
    }
    text
}

/// Two threads that take turns at the record, round after round.
fn program(random: &mut Random, rounds: usize) -> String {
    let names = ["one", "other"];
    let bodies = names.map(|name| (0..6).map(|number| step(random, name, number)).collect::<Vec<_>>());
    let threads: Vec<String> = names
        .iter()
        .zip(&bodies)
        .enumerate()
        .map(|(at, (name, steps))| {
            let steps: Vec<String> = steps
                .iter()
                .map(|step| format!("sem_wait(&turn[{at}]);\n{step}sem_post(&turn[{}]);\n", 1 - at))
                .collect();
            format!(
                "THREAD({name}) {{\nvolatile long sink = 0;\n(void)sink;\nfor (int round = 0; round < {rounds}; round++) {{\n{}}}\nreturn NULL;\n}}\n",
                steps.concat()
            )
        })
        .collect();
    format!(
        "static sem_t turn[2];\n{}int main(void) {{\nsem_init(&turn[0], 0, 1);\nsem_init(&turn[1], 0, 0);\n\
         pthread_t threads[] = {{start(one, NULL), start(other, NULL)}};\n\
         for (int i = 0; i < 2; i++)\npthread_join(threads[i], NULL);\nreturn 0;\n}}\n",
        threads.concat()
    )
}

/// The history of each field, in order.
fn histories(declaration: &str, program: &str, plan: &str) -> Vec<String> {
    let source =
        format!("volatile struct {{ {declaration} }} record __attribute__((aligned(8)));\n{program}");
    let history = c(&source).plan(plan).record().history("record");
    history.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect()
}

#[test]
fn small_fields_have_the_histories_of_large_ones() {
    for seed in 1..=6 {
        for (rounds, plan) in [(3, "noise=off"), (100, "noise=off,budget=65536")] {
            let program = program(&mut Random(seed), rounds);
            let small: String = FIELDS.iter().map(|(name, kind)| format!("{kind} {name}; ")).collect();
            let large: String = FIELDS.iter().map(|(name, _)| format!("long {name}; ")).collect();
            let told = histories(&small, &program, plan);
            assert!(told.len() > 4, "{told:#?}");
            assert_eq!(told, histories(&large, &program, plan), "{seed}, {plan}");
        }
    }
}

/// Where few halves are described byte by byte, their descriptions are elsewhere than where many are; and they are used again.
#[test]
fn few_bytes_or_many_have_their_own_history() {
    for count in [1, 7, 8, 9, 32] {
        let program = c(&format!(
            r#"
struct item {{ char a, b, c, d; int other; }};
struct item items[32] __attribute__((aligned(256)));
volatile int rounds = 2000;
THREAD(first) {{
    for (int round = 0; round < rounds; round++) {{
        struct item *mine = malloc(sizeof items);
        for (int i = 0; i < {count}; i++) {{
            *(volatile char *)&mine[i].a = 1;
            *(volatile char *)&mine[i].b = 2;
        }}
        free(mine);
    }}
    for (int i = 0; i < {count}; i++) {{
        *(volatile char *)&items[i].a = 1; //@a
        *(volatile char *)&items[i].b = 2; //@b
    }}
    return NULL;
}}
THREAD(second) {{
    for (int i = 0; i < {count}; i++)
        CHECK(*(volatile char *)&items[i].b == 2); //@second
    return NULL;
}}
int main(void) {{
    in_thread(first);
    in_thread(second);
    return 0;
}}
"#
        ));
        let process = program.record();
        process.expect_whole();
        let line = |item: usize| format!("+{}:1 first w@b | second R@second", item * 8 + 1);
        let expected: Vec<String> = (0..count).map(line).collect();
        assert_eq!(process.history("items"), expected.join("\n"), "{count}");
    }
}
