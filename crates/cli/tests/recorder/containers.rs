//! Strings, lists, maps and sets of gcc's C++ library, whose code is partly in the library itself.

use crate::kit::{Compiler, Link, cpp};

/// The statements run in `first` and then, others, in `second`; what became of `x` is compared.
fn check(declarations: &str, first: &str, second: &str, expected: &str) {
    let program = cpp(&format!(
        "{declarations}\nTHREAD(first) {{\n{first}\nreturn NULL;\n}}\nTHREAD(second) {{\n{second}\nreturn NULL;\n}}\n\
         int main(void) {{ in_thread(first); in_thread(second); return 0; }}\n"
    ));
    let process = program.record();
    process.expect_whole();
    assert_eq!(process.history("x"), expected, "{first} {second}");
}

#[test]
fn links_of_lists() {
    let x = "#include <list>
struct Links { void *next, *previous; } x = {&x, &x}, a, b;
static std::__detail::_List_node_base *node(void *links) { return (std::__detail::_List_node_base *)links; }";
    check(
        x,
        "node(&a)->_M_hook(node(&x)); //@a",
        "node(&b)->_M_hook(node(&x)); //@b",
        "+8:8 first r@a w@a | second R@b W@b",
    );
    check(
        x,
        "node(&a)->_M_hook(node(&x)); //@a",
        "node(&a)->_M_unhook(); //@b",
        "+0:8 first w@a | second W@b\n+8:8 first r@a w@a | second W@b",
    );
}

#[test]
fn links_of_trees() {
    let x = "#include <map>
std::_Rb_tree_node_base x = {std::_S_red, nullptr, &x, &x}, a, b;
volatile long sink;";
    let first = "std::_Rb_tree_insert_and_rebalance(true, &a, &x, x); //@a";
    // The first node is the root, and both ends; the second becomes the left end.
    check(
        x,
        first,
        "std::_Rb_tree_insert_and_rebalance(true, &b, &a, x); //@b",
        "+16:8 first w@a | second W@b",
    );
    check(
        x,
        first,
        "sink = std::_Rb_tree_decrement(&x) == &a; //@b",
        "+8:8 first w@a | second R@b\n+24:8 first w@a | second R@b",
    );
    check(
        x,
        first,
        "std::_Rb_tree_rebalance_for_erase(&a, x); //@b",
        "+8:8 first w@a | second W@b\n+16:8 first w@a | second W@b\n+24:8 first w@a | second W@b",
    );
}

/// What the recorder does in the library's place comes out as the library's own would.
#[test]
fn containers_come_out_right() {
    let program = cpp(r#"
#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>
static unsigned long state = 88172645463325252ul;
static unsigned draw(unsigned below) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state % below;
}
int main() {
    std::map<unsigned, std::string> map;
    std::set<unsigned> set;
    std::vector<unsigned> keys;
    for (int i = 0; i < 4000; i++) {
        unsigned key = draw(500);
        auto place = std::lower_bound(keys.begin(), keys.end(), key);
        if (place != keys.end() && *place == key) {
            keys.erase(place);
            CHECK(map.erase(key) == 1 && set.erase(key) == 1);
        } else {
            keys.insert(place, key);
            CHECK(map.emplace(key, std::to_string(key)).second && set.insert(key).second);
        }
        if (i % 50 == 0) {
            CHECK(std::equal(set.begin(), set.end(), keys.begin(), keys.end()));
            CHECK(std::equal(set.rbegin(), set.rend(), keys.rbegin(), keys.rend()));
            for (auto &[key, text] : map) CHECK(text == std::to_string(key));
        }
    }
    std::list<int> one, other;
    for (int i = 0; i < 10; i++) { one.push_back(i); other.push_front(i); }
    one.splice(std::next(one.begin(), 3), other, std::next(other.begin(), 2), std::next(other.begin(), 5));
    one.remove(8);
    CHECK((one == std::list<int>{0, 1, 2, 7, 6, 5, 3, 4, 5, 6, 7, 9}));
    CHECK((other == std::list<int>{9, 8, 4, 3, 2, 1, 0}));
    CHECK(std::equal(one.rbegin(), one.rend(), std::vector<int>{9, 7, 6, 5, 4, 3, 5, 6, 7, 2, 1, 0}.begin()));
    return 0;
}
"#);
    program.run_well();
}

/// Built by `unsnarl c++`, strings are compiled along with the program. A string's length is its second word.
#[test]
fn strings_are_seen() {
    let source = "#include <string>
struct { std::string text; } x = {\"a long text that is not within the string itself\"};
THREAD(first) { x.text += 'a'; return NULL; }
THREAD(second) { x.text += 'b'; return NULL; }
int main() { in_thread(first); in_thread(second); CHECK(x.text.size() == 50); return 0; }
";
    for compiler in [Compiler::cpp(), Compiler::cpp().flags("-O2 -std=c++20")] {
        let program = compiler.link(Link::Unsnarl).program(source);
        let process = program.record();
        process.expect_whole();
        let length = process.address("x") + 8;
        let (location, _) =
            process.lasting_locations().find(|(_, location)| location.address == length).unwrap();
        assert!(process.accesses(location).count() >= 4);
    }
}
