import java.util.Arrays;

/**
 * Two buyers draw a ticket from each drum of a lottery, one from the first drum to the last, one from the last to the
 * first. Turning the drum and reading its number are locked, but not together: when the other buyer turns it in
 * between, both get the same number.
 */
public final class Lottery {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int DRUMS = 24;

    private final Drum[] drums = new Drum[DRUMS];
    private final int[][] tickets = new int[2][DRUMS];

    private Lottery() {
        Arrays.setAll(drums, i -> new Drum());
    }

    private void buy(int buyer, int drum) {
        tickets[buyer][drum] = drums[drum].draw(buyer + 1);
    }

    private boolean hasTwins() {
        for (int drum = 0; drum < DRUMS; drum++) {
            if (tickets[0][drum] == tickets[1][drum]) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Lottery lottery = new Lottery();
        new Crossing(DRUMS).walk(drum -> lottery.buy(0, drum), drum -> lottery.buy(1, drum));
        if (lottery.hasTwins()) {
            System.err.println("a number was sold twice");
            System.exit(1);
        }
    }
}
