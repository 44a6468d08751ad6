import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The page's content security policy allows no inline code: what would be inlined becomes a file.
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // All views look alike from the start.
    cssCodeSplit: false,
    target: 'es2022',
    rolldownOptions: {
      // How long plugins took is no news to those who build.
      checks: { pluginTimings: false },
      // All code in one file, for saved pages; and in parts, loaded as views are opened. index.html names the last.
      output: [{ codeSplitting: false, entryFileNames: 'whole.js' }, {}],
    },
  },
  plugins: [svelte({ configFile: false })],
  clearScreen: false,
});
