/**
 * Entry of a thread or process, whose script is its first argument: of a PE, of the controller of regions, and of
 * DuckDB.
 */
const { exportsOf, preloaded } = require('./script.js');

const [name] = process.argv.slice(2);
exportsOf(name, preloaded() ? null : '');
