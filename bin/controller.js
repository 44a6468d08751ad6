// Entry of the controller's thread: see src/region/controller/side.ts.
require('./quick.js').quick('controller');
