/** Damaged files through commands and routes: see `commands.ts` for what must hold. */
import { testedThroughCommands } from './tested.ts';

testedThroughCommands();
