import { naivePhold } from './naive.mjs';
import { WORKLOADS } from './workloads.mjs';

const w = WORKLOADS[process.argv[2]];
const { net, seconds } = naivePhold({ ...w, mean: 1, remote: 0.25 });
console.log(JSON.stringify({ net, seconds, rate: net / seconds }));
