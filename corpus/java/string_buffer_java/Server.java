import java.util.Arrays;

/**
 * A server keeps what each client has sent in a buffer. A logger appends the buffers to its own, from the last client to
 * the first, while the server clears those that it has answered, from the first to the last. Appending asks for the
 * length and then for as many characters; a buffer that is cleared in between has fewer.
 */
public final class Server {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int CLIENTS = 24;

    private final TextBuffer[] buffers = new TextBuffer[CLIENTS];
    private int logged;

    private Server() {
        Arrays.setAll(buffers, client -> new TextBuffer("GET /" + client));
    }

    private void answer(int client) {
        buffers[client].setLength(0);
    }

    private void log(int client) {
        TextBuffer line = new TextBuffer("client: ");
        line.append(buffers[client]);
        logged += line.length();
    }

    public static void main(String[] arguments) throws InterruptedException {
        Server server = new Server();
        // An exception that ends the logger fails the run.
        new Crossing(CLIENTS).walk(server::answer, server::log);
    }
}
