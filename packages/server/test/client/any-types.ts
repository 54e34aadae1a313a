/** Finds types that say nothing: `any`, and names that are not found, which the compiler treats as `any`. */

import { API, TypeFlags } from "typescript/unstable/sync";
import type { Node } from "typescript/unstable/ast";
import {
  isParameterDeclaration,
  isPrivateIdentifier,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isTemplateLiteralTypeSpan,
  isTypeNode,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

/** @returns the declarations with such a type, as `file: text`, in the files of the project below a folder */
export function anyTypes(project: string, folder: string): string[] {
  const api = new API();
  try {
    const opened = api.updateSnapshot({ openProjects: [project] }).getProject(project);
    if (opened === undefined) throw new Error(`${project} is no project.`);
    const { program, checker } = opened;
    return program
      .getSourceFileNames()
      .filter((name) => name.startsWith(folder))
      .flatMap((name) => {
        const file = program.getSourceFile(name);
        if (file === undefined) throw new Error(`${name} is not in the project.`);
        const nodes = typedNodes(file);
        const types = checker.getTypeAtLocation(nodes);
        return nodes
          .filter((_, at) => ((types[at]?.flags ?? TypeFlags.Any) & TypeFlags.Any) !== 0)
          .map((node) => `${name.slice(folder.length)}: ${node.getText(file)}`);
      });
  } finally {
    api.close();
  }
}

/** What has a type: names of types, and what is declared with one. */
function typedNodes(root: Node): Node[] {
  const found: Node[] = [];
  const visit = (node: Node): undefined => {
    const isDeclared =
      isParameterDeclaration(node) ||
      // Declarations leave out the types of private properties.
      (isPropertyDeclaration(node) && !isPrivateIdentifier(node.name)) ||
      isPropertySignatureDeclaration(node) ||
      isVariableDeclaration(node);
    // A span is a part of a text and has no type.
    if (isDeclared || (isTypeNode(node) && !isTemplateLiteralTypeSpan(node))) found.push(node);
    node.forEachChild(visit);
    return undefined;
  };
  visit(root);
  return found;
}
