// SPDX-License-Identifier: Apache-2.0
// DynamoDB's messages about PartiQL statements. fmt replaces {}.
#pragma once

namespace stator::partiql::message {

// Syntax errors. The detail follows, or nothing if the text has invalid tokens.
inline constexpr const char* kNotWellFormed = "Statement wasn't well formed, can't be processed: ";
inline constexpr const char* kLeftover = "Unexpected token after expression";
inline constexpr const char* kUnexpectedTerm = "Unexpected term";
inline constexpr const char* kUnexpectedKeyword = "Unexpected keyword";
inline constexpr const char* kUnexpectedOperator = "Unexpected operator";
inline constexpr const char* kMissingRight = "Missing right-hand side expression of infix operator";
inline constexpr const char* kExpectedManipulation = "Expected data manipulation";
inline constexpr const char* kExpectedPath = "Expected identifier for simple path";
inline constexpr const char* kExpectedTypeName = "Expected type name";
inline constexpr const char* kExpectedToken = "Expected {}";
inline constexpr const char* kPathDot = "Invalid path dot component";
inline constexpr const char* kTooDeep = "The statement is nested too deeply; maximum depth: {}";

// Errors in well-formed statements. Positions have the form line:column:length.
inline constexpr const char* kUnsupportedOperation = "Unsupported operation: {}";
inline constexpr const char* kUnsupportedClause = "Unsupported clause: {}";
inline constexpr const char* kUnsupportedToken = "Unsupported token in expression: {}";
inline constexpr const char* kAliasing = "Aliasing is not supported";
inline constexpr const char* kSelectValue =
    "Select projection doesn't support value or pivot keywords";
inline constexpr const char* kFromSource = "Unexpected from source";
inline constexpr const char* kOneSource = "Only select from a single table or index is supported.";
inline constexpr const char* kPathParts =
    "A path may contain at most 2 components in the FROM clause";
inline constexpr const char* kEmptyPathPart = "Path component cannot be an empty string";
inline constexpr const char* kOneTable =
    "FROM clause may only contain a single table name in data manipulation statements";
inline constexpr const char* kWriteOnIndex = "This operation is not supported on an index";
inline constexpr const char* kPathComponent = "Unexpected path component at {}";
inline constexpr const char* kUnpivotPath =
    "Unpivot path component like a.*.b are not supported at {}";
inline constexpr const char* kWildcardPath =
    "Wildcard path component like a[*].b are not supported at {}";
inline constexpr const char* kHierarchy = "Changing item's hierarchy while reading isn't supported";
inline constexpr const char* kListIndex =
    "List index is not within the allowable range; index: [{}] at {}";
inline constexpr const char* kDuplicateColumns = "Duplicate identifiers in select clause: {}";
inline constexpr const char* kOrderWithoutWhere =
    "Must have WHERE clause in the statement when using ORDER BY clause.";
inline constexpr const char* kOrderTerm =
    "Argument to ORDER BY must be of type VariableReference. Type: {}";
inline constexpr const char* kBooleanWhere =
    "WHERE clause must contain an expression that resolves to a boolean";
inline constexpr const char* kBooleanOperands = "The arguments to AND/OR must be Expressions";
inline constexpr const char* kMissingCompared = "MISSING must be compared using IS operator";
inline constexpr const char* kIsOperand =
    "The left hand side argument to IS must be a Variable Reference, Literal, or Path";
inline constexpr const char* kIsType =
    "Unsupported data type for IS operator: {}. Supported data types are [MISSING, NULL, BOOLEAN, "
    "BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST] at {}";
inline constexpr const char* kInOperand =
    "IN operator must have a left hand argument of type Variable Reference and right hand argument "
    "of type Seq with at least one member";
inline constexpr const char* kConditionOperator =
    "Unsupported operator in Condition Expression. Operator: {}";
inline constexpr const char* kUpdateOperator =
    "Unsupported operator in Update Expression. Operator: {}";
inline constexpr const char* kFunction = "Unrecognized function: {} at {}";
inline constexpr const char* kExistsPlace =
    "EXISTS can only be used in ExecuteTransaction write requests.";
inline constexpr const char* kItemFormat =
    "Unsupported format in item expression. Please use struct format {{...}} to express item "
    "values for insert statement. at {}";
inline constexpr const char* kDataType = "Unsupported data type: {} under key {} at {}";
inline constexpr const char* kIonLiteral = "Ion Literals are not supported under key {} at {}";
inline constexpr const char* kTupleKey =
    "Tuple keys must be of type String. Actual type: {} under {} at {}";
inline constexpr const char* kDuplicateTupleKey = "Duplicate keys in tuple. Key: {} under {} at {}";
inline constexpr const char* kBagType =
    "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags at {}";
inline constexpr const char* kEmptyBag = "Empty bags are not supported";
inline constexpr const char* kParameterCount =
    "Number of parameters in request and statement don't match.";
inline constexpr const char* kSetTarget =
    "The first argument to {} must equal the assignment value at {}";
inline constexpr const char* kSetOperand =
    "The second argument to {} must be a value with type SET at {}";
inline constexpr const char* kSetArguments = "{} must have exactly two arguments at {}";
inline constexpr const char* kReturningStar =
    "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause";
inline constexpr const char* kReturningMany =
    "Invalid syntax with multiple returning elements in RETURNING clause";
inline constexpr const char* kReturningInsert = "RETURNING is not supported in INSERT";
inline constexpr const char* kReturningDelete =
    "Invalid returning clause: RETURNING {} *. Only RETURNING ALL OLD * is allowed in DELETE "
    "statements.";

}  // namespace stator::partiql::message
