/**
 * Innocent sharing around the bug: background.h for the corpus's Java programs. {@code -Dnoise=0} leaves it out,
 * {@code -Dnoise=2} adds thousands of accesses to a striped table.
 */
final class Background {
    private static final int NOISE = Integer.getInteger("noise", 1);
    private static final int CACHE_LINES = 8;
    private static final int STRIPES = 8;
    private static final int CELLS_PER_STRIPE = 32;
    private static final int STEPS_PER_SWEEP = 4;

    private static final Object LOCK = new Object();
    private static final int[] KEYS = new int[CACHE_LINES];
    private static final int[] VALUES = new int[CACHE_LINES];
    private static long lookups;
    private static long misses;
    private static final int[][] TABLE = new int[STRIPES][CELLS_PER_STRIPE];

    private Background() {
    }

    /** One unit of what the rest of a program would be doing. */
    static void step(int key) {
        if (NOISE == 0) {
            return;
        }
        int value = lookUp(key);
        if (NOISE == 2 && key % STEPS_PER_SWEEP == 0) {
            sweep(value);
        }
    }

    private static int lookUp(int key) {
        int line = key % CACHE_LINES;
        synchronized (LOCK) {
            lookups++;
            if (KEYS[line] != key) {
                misses++;
                KEYS[line] = key;
                VALUES[line] = key * 0x9e3779b1;
            }
            return VALUES[line];
        }
    }

    private static void sweep(int value) {
        for (int[] stripe : TABLE) {
            synchronized (stripe) {
                for (int i = 1; i < stripe.length; i++) {
                    stripe[i] = stripe[i - 1] ^ value;
                }
                stripe[0] += value;
            }
        }
    }
}
