/**
 * Loops of all shapes, as in loops.c. In each iteration a thread is told which execution of a loop this is, and which
 * iteration of it: what is written to `told` is what the recorder should know about the write.
 */
public class Loops {
    private static int told;
    private static int executions;

    private static void tell(int execution, int iteration) {
        told = execution << 16 | iteration;
        Thread listener = new Thread(() -> {
            if (told == 0) {
                throw new IllegalStateException("nothing was told");
            }
        });
        listener.start();
        try {
            listener.join();
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void tellOutside() {
        tell(0, 1);
    }

    private static void counted(int times) {
        int execution = ++executions;
        for (int i = 0; i < times; i++) {
            tell(execution, i);
        }
    }

    private static void until(int times) {
        int execution = ++executions;
        int i = 0;
        do {
            tell(execution, i);
        } while (++i < times);
    }

    private static void nested() {
        int outer = ++executions;
        for (int i = 0; i < 3; i++) {
            tell(outer, i);
            int inner = ++executions;
            for (int j = 0; j < 2; j++) {
                tell(inner, j);
            }
            tell(outer, i);
            inner = ++executions;
            for (int j = 0; j < i; j++) {
                tell(inner, j);
            }
        }
    }

    private static void withGaps(int times) {
        int execution = ++executions;
        for (int i = 0; i < times; i++) {
            if (i % 3 == 1) {
                continue;
            }
            if (i % 2 == 0) {
                tell(execution, i);
            } else {
                tell(execution, i);
            }
        }
    }

    private static int leftEarly(int last) {
        int execution = ++executions;
        for (int i = 0;; i++) {
            tell(execution, i);
            if (i == last) {
                return execution;
            }
        }
    }

    private static void switching() {
        int execution = ++executions;
        for (int i = 0; i < 8; i++) {
            switch (i) {
                case 0:
                    tell(execution, 0);
                    break;
                case 1:
                    tell(execution, 1);
                    break;
                case 2:
                    tell(execution, 2);
                    // falls through
                case 4:
                    tell(execution, i);
                    break;
                case 5:
                    continue;
                case 7:
                    return;
                default:
                    tell(execution, i);
            }
        }
    }

    /** Each iteration ends by an exception. */
    private static void retrying() {
        int execution = ++executions;
        int i = 0;
        while (true) {
            try {
                tell(execution, i);
                if (i < 2) {
                    throw new IllegalStateException("again");
                }
                return;
            } catch (IllegalStateException again) {
                i++;
            }
        }
    }

    private static void recursive(int depth) {
        int execution = ++executions;
        for (int i = 0; i < 2; i++) {
            tell(execution, i);
            if (depth > 0) {
                recursive(depth - 1);
            }
            tell(execution, i);
        }
    }

    private static void calling() {
        int execution = ++executions;
        for (int i = 0; i < 3; i++) {
            counted(i);
            tell(execution, i);
            leftEarly(i);
            tell(execution, i);
        }
    }

    private static void endless() {
        int execution = ++executions;
        for (int i = 0;; i++) {
            tell(execution, i);
            if (i == 2) {
                throw new UnsupportedOperationException("enough");
            }
        }
    }

    private static void thrownOut() {
        try {
            endless();
        } catch (UnsupportedOperationException enough) {
            tellOutside();
        }
        counted(2);
    }

    public static void main(String[] arguments) {
        tellOutside();
        counted(3);
        tellOutside();
        until(3);
        nested();
        withGaps(7);
        leftEarly(2);
        tellOutside();
        switching();
        retrying();
        recursive(2);
        calling();
        thrownOut();
        tellOutside();
    }
}
