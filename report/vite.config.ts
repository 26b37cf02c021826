import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file, with nothing to fetch: `ebb` embeds it and puts the data in.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { emptyOutDir: true, target: "es2020", chunkSizeWarningLimit: 1000 },
});
