/** Shows a new number at each turn. */
final class Drum {
    private static final int ROLL_ROUNDS = 200;

    private int shown;
    private int turns;

    /** Draws a number for a buyer. */
    int draw(int buyer) {
        if (Lottery.FIXED) {
            synchronized (this) {
                turn(buyer);
                return roll(buyer) ? number() : 0;
            }
        }
        turn(buyer);
        return roll(buyer) ? number() : 0;
    }

    private synchronized void turn(int buyer) {
        turns++;
        shown = turns * 1000 + buyer; // truth:A1
    }

    private synchronized int number() {
        return shown; // truth:A2
    }

    /** Until the drum stands still. */
    private static boolean roll(int buyer) {
        return Work.compute(buyer, ROLL_ROUNDS) != 0;
    }
}
