/**
 * Two agencies sell a seat of each flight of an airline, one from the first flight to the last, one from the last to the
 * first. Most flights have one seat left. An agency asks for a seat, fills in a form and books. Where both ask before
 * either books, the flight is overbooked.
 */
public final class Airline {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int FLIGHTS = 24;
    private static final int SEATS = 120;
    private static final int UNPOPULAR = 3;

    private final Flight[] flights = new Flight[FLIGHTS];
    private final int[] tickets = new int[2];

    private Airline() {
        for (int i = 0; i < FLIGHTS; i++) {
            boolean isPopular = i >= UNPOPULAR && i < FLIGHTS - UNPOPULAR;
            flights[i] = new Flight(SEATS, SEATS - (isPopular ? 1 : 2));
        }
    }

    private void serve(int agency, int flight) {
        if (flights[flight].sell()) {
            tickets[agency]++;
        }
    }

    private int overbooked() {
        int count = 0;
        for (Flight flight : flights) {
            count += flight.isOverbooked() ? 1 : 0;
        }
        return count;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Airline airline = new Airline();
        new Crossing(FLIGHTS).walk(flight -> airline.serve(0, flight), flight -> airline.serve(1, flight));
        if (airline.overbooked() > 0) {
            System.err.println("flights are overbooked");
            System.exit(1);
        }
    }
}
