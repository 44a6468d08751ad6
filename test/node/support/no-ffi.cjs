// node -r no-ffi.cjs …: a platform on which koffi does not load.
const Module = require('node:module');
const load = Module._load;
Module._load = (name, ...rest) => {
  if (/koffi/.test(name)) throw new Error('no koffi here');
  return load(name, ...rest);
};
