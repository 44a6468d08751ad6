export { didYouMean, nearest } from '../model/nearest.ts';
