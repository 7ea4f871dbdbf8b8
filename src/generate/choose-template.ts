import type { Failure } from "../generation/failure.ts";
import type { Request } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { templateCharactersMax, templatesMax } from "../limits.ts";
import { type ChatTemplate, chatTemplate } from "../prompt/template.ts";

/** Which template a request is rendered with: the model's `own`, or one that it brings, of which the last few stay compiled. */
export function templateChooser(
  own: ChatTemplate,
  special: { readonly bos: string; readonly eos: string },
): (request: Pick<Request, "template">) => Result<ChatTemplate, Failure> {
  const compiled = new Map<string, ChatTemplate>();
  return ({ template: source }) => {
    if (source === undefined) return ok(own);
    if (source.length > templateCharactersMax) {
      return invalid(`a chat template may have ${templateCharactersMax} characters`);
    }
    let template = compiled.get(source);
    if (template === undefined) {
      const fresh = chatTemplate(source, special);
      if (!fresh.ok) return invalid(`the chat template is no Jinja that can be read: ${fresh.failure}`);
      template = fresh.value;
    }
    // The one that was not used for longest goes first.
    compiled.delete(source);
    compiled.set(source, template);
    const [oldest] = compiled.keys();
    if (compiled.size > templatesMax && oldest !== undefined) compiled.delete(oldest);
    return ok(template);
  };
}

function invalid(message: string): Result<never, Failure> {
  return fail({ kind: "invalid", message, param: "template", code: "invalid_value" });
}
