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
    target: 'es2022',
    // How long plugins took is no news to those who build.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  plugins: [svelte({ configFile: false })],
  clearScreen: false,
});
