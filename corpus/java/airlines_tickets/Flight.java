/** A flight with a number of seats. */
final class Flight {
    private static final int FORM_ROUNDS = 200;

    private final int seats;
    private int sold;

    Flight(int seats, int sold) {
        this.seats = seats;
        this.sold = sold;
    }

    /** Sells a seat, if one is left. */
    boolean sell() {
        if (Airline.FIXED) {
            return sellAtOnce();
        }
        if (!hasSeat() || !fillInForm()) {
            return false;
        }
        book();
        return true;
    }

    boolean isOverbooked() {
        return sold > seats;
    }

    private synchronized boolean sellAtOnce() {
        boolean sells = sold < seats && fillInForm();
        if (sells) {
            sold++;
        }
        return sells;
    }

    private synchronized boolean hasSeat() {
        return sold < seats; // truth:A1
    }

    private synchronized void book() {
        int before = sold; // truth:A3
        sold = before + 1; // truth:A2
    }

    private boolean fillInForm() {
        return Work.compute(seats, FORM_ROUNDS) != 0;
    }
}
