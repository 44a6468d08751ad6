import { singleType } from './random-model.ts';

export default singleType('random-by-hand', 'by hand');
