/** A dragonfly with credits: docs/networks.md. */
import { int } from '../../model/option.ts';
import { routingOption } from '../networks/direct.ts';
import { dragonfly } from '../networks/dragonfly.ts';
import { networkModel } from '../networks/network-model.ts';

export default networkModel({
  name: 'dragonfly',
  help: 'dragonfly with credit flow control: minimal, Valiant or adaptive (UGAL-L) routing',
  options: {
    p: int(2, 'terminals of a router', { min: 1, max: 64 }),
    a: int(4, 'routers of a group', { min: 2, max: 128 }),
    h: int(2, 'links of a router to other groups', { min: 1, max: 64 }),
    routing: routingOption(),
  },
  topology: dragonfly,
});
