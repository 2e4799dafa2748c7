import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Loads and links every class of the platform, and says which cannot be and why. */
public class LoadAll {
    public static void main(String[] arguments) throws Exception {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        List<String> names = new ArrayList<>();
        try (var files = Files.walk(modules)) {
            files.map(Path::toString).filter(LoadAll::isClass).sorted().forEach(names::add);
        }
        int linked = 0;
        List<String> refused = new ArrayList<>();
        for (String file : names) {
            // As in /modules/java.base/java/lang/Object.class.
            String path = file.substring(file.indexOf('/', "/modules/".length()) + 1);
            String name = path.substring(0, path.length() - ".class".length()).replace('/', '.');
            try {
                // Asking for its methods links a class, which verifies it, but does not initialize it.
                Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
                linked++;
            } catch (Throwable refusal) {
                refused.add(name + ": " + refusal);
            }
        }
        System.out.println(linked + " classes");
        refused.forEach(System.out::println);
    }

    private static boolean isClass(String file) {
        return file.endsWith(".class") && !file.endsWith("/module-info.class");
    }
}
