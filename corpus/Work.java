/** Computation that shares nothing, to tune failure rates without sleeping: work.h for the corpus's Java programs. */
final class Work {
    private Work() {
    }

    /** Scrambles a seed for the given number of rounds, a nanosecond or two each once it is compiled. */
    static int compute(int seed, int rounds) {
        int state = seed | 1;
        for (int i = 0; i < rounds; i++) {
            state ^= state << 13;
            state ^= state >>> 17;
            state ^= state << 5;
        }
        return state;
    }
}
