// SPDX-License-Identifier: Apache-2.0
// DynamoDB's messages about expressions. fmt replaces {}.
#pragma once

namespace stator::expression::message {

inline constexpr const char* kSearchComparator =
    "Invalid comparator used in SearchConditionExpression";
// DynamoDB's message is unknown. The name follows.
inline constexpr const char* kSearchRepeated =
    "SearchConditionExpression must contain one condition for each attribute; attribute name: ";
inline constexpr const char* kEmpty = "The expression can not be empty;";
inline constexpr const char* kTooLong = "Expression size has exceeded the maximum allowed size;";
inline constexpr const char* kTooLongWithSize =
    "Expression size has exceeded the maximum allowed size; expression size: {}";
inline constexpr const char* kSyntax = "Syntax error; token: \"{}\", near: \"{}\"";
inline constexpr const char* kTooManyOperators =
    "The expression contains too many operators and functions; maximum: 300, count: {}";
inline constexpr const char* kTooDeep = "The expression is nested too deeply; maximum depth: {}";
inline constexpr const char* kRedundantParentheses = "The expression has redundant parentheses;";
inline constexpr const char* kInvalidFunction = "Invalid function name; function: {}";
inline constexpr const char* kFunctionNotAllowed =
    "The function is not allowed to be used this way in an expression; function: {}";
inline constexpr const char* kFunctionNotAllowedInUpdate =
    "The function is not allowed in an update expression; function: {}";
inline constexpr const char* kFunctionNotAllowedInCondition =
    "The function is not allowed in a condition expression; function: {}";
inline constexpr const char* kOperandCount =
    "Incorrect number of operands for operator or function; operator or function: {}, number of "
    "operands: {}";
inline constexpr const char* kOperandType =
    "Incorrect operand type for operator or function; operator or function: {}, operand type: {}";
inline constexpr const char* kUpdateOperandType =
    "Incorrect operand type for operator or function; operator: {}, operand type: {}, typeSet: "
    "ALLOWED_FOR_{}_OPERAND";
inline constexpr const char* kPathRequired =
    "Operator or function requires a document path; operator or function: {}";
inline constexpr const char* kInOperands =
    "The IN operator is provided with too many operands; number of operands: {}";
inline constexpr const char* kTypeName =
    "Invalid attribute type name found; type: {}, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}";
inline constexpr const char* kNotDistinct =
    "The first operand must be distinct from the remaining operands for this operator or function; "
    "operator: {}, first operand: {}";
inline constexpr const char* kBetweenOrder =
    "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
    "bound operand: AttributeValue: {}, upper bound operand: AttributeValue: {}";
inline constexpr const char* kBetweenTypes =
    "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: "
    "AttributeValue: {}, upper bound operand: AttributeValue: {}";
inline constexpr const char* kNameUndefined =
    "An expression attribute name used in the document path is not defined; attribute name: {}";
inline constexpr const char* kValueUndefined =
    "An expression attribute value used in expression is not defined; attribute value: {}";
inline constexpr const char* kReserved =
    "Attribute name is a reserved keyword; reserved keyword: {}";
inline constexpr const char* kPathTooDeep =
    "The document path has too many nesting elements; nesting levels: {}";
inline constexpr const char* kIndexTooLarge =
    "List index is not within the allowable range; index: [{}]";
inline constexpr const char* kOverlap =
    "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
    "one: {}, path two: {}";
inline constexpr const char* kConflict =
    "Two document paths conflict with each other; must remove or rewrite one of these paths; path "
    "one: {}, path two: {}";
inline constexpr const char* kSectionTwice =
    "The \"{}\" section can only be used once in an update expression;";

// Evaluation of updates. The parameter's name does not precede these.
inline constexpr const char* kInvalidUpdatePath =
    "The document path provided in the update expression is invalid for update";
inline constexpr const char* kNoSuchAttribute =
    "The provided expression refers to an attribute that does not exist in the item";
inline constexpr const char* kUpdateTooLarge =
    "Item size to update has exceeded the maximum allowed size";
inline constexpr const char* kUpdateOperand =
    "An operand in the update expression has an incorrect data type";
inline constexpr const char* kLegacyUpdateType = "Type mismatch for attribute to update";

// Key conditions.
inline constexpr const char* kKeyOperator = "Invalid operator used in KeyConditionExpression: {}";
inline constexpr const char* kKeyMissing = "Query condition missed key schema element: {}";
inline constexpr const char* kKeyUnsupported = "Query key condition not supported";
inline constexpr const char* kKeyRepeated =
    "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per "
    "key";
inline constexpr const char* kKeyNested =
    "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested "
    "attributes";
inline constexpr const char* kKeyOperation =
    "Invalid KeyConditionExpression: KeyConditionExpressions cannot contain nested operations";
inline constexpr const char* kKeyConditionCount =
    "The number of query conditions ({}) exceeds the number of key attributes defined in the "
    "schema ({})";
inline constexpr const char* kKeyGap =
    "RANGE key attributes {} must have equality conditions specified in the query because a "
    "condition is present on key attribute {}";
inline constexpr const char* kKeyType =
    "One or more parameter values were invalid: Condition parameter type does not match schema "
    "type";
inline constexpr const char* kKeyEmptyValue =
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
    "contain an empty {} value. Key: {}";

// Placeholders.
inline constexpr const char* kNullName =
    "ExpressionAttributeNames contains invalid value: null for key {}";
inline constexpr const char* kNamesEmpty = "ExpressionAttributeNames must not be empty";
inline constexpr const char* kValuesEmpty = "ExpressionAttributeValues must not be empty";
inline constexpr const char* kInvalidKey = "{} contains invalid key: Syntax error; key: \"{}\"";
inline constexpr const char* kInvalidKeyEmpty =
    "{} contains invalid key: The expression attribute map contains an empty key;";
inline constexpr const char* kNameEmpty =
    "ExpressionAttributeNames contains invalid value: Empty attribute name for key {}";
inline constexpr const char* kNameTooLong =
    "Attribute name is too large, must be less than 65536 bytes";
inline constexpr const char* kUnused = "Value provided in {} unused in expressions: keys: {{{}}}";

}  // namespace stator::expression::message
