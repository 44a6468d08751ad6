/** Entry of a thread, whose script is its first argument: of a PE whose model is built in, and of the controller of regions. */
const { exportsOf, preloaded } = require('./script.js');

const [name] = process.argv.slice(2);
exportsOf(name, preloaded() ? null : '');
