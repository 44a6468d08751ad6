// Entry of a PE's thread, where its model is built in: see src/sim/simulate.ts.
const { preloaded, quick } = require('./quick.js');

if (preloaded() || quick('pe') === null) import('../dist/sim/worker.js');
