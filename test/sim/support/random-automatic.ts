import { singleType } from './random-model.ts';

export default singleType('random-automatic', 'automatic');
