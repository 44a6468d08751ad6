import { mixedTypes } from './random-model.ts';

export default mixedTypes('random-mixed');
