/** A fat tree with credits: docs/networks.md. */
import { int } from '../../model/option.ts';
import { fatTree, fatTreeRouting } from '../networks/fat-tree.ts';
import { networkModel } from '../networks/network-model.ts';

export default networkModel({
  name: 'fattree',
  help: 'fat tree (k-ary n-tree) with credit flow control: d mod k, random or adaptive routing',
  options: {
    k: int(4, 'links of a switch in each direction', { min: 2, max: 64 }),
    n: int(3, 'levels of switches', { min: 1, max: 8 }),
    routing: fatTreeRouting(),
  },
  topology: fatTree,
});
