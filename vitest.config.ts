import { defineConfig } from 'vitest/config';

// Tests import the built package by its own name, so that they exercise what is shipped, at full speed.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    server: { deps: { external: [/\/dist\//] } },
  },
});
