// The wheels' message libraries are linked with their Python extensions, which can only be loaded if these variables of
// Python exist. Nothing in this process calls the extensions.
extern "C" {
extern const long PyExc_RuntimeError;
extern const long _Py_TrueStruct;
extern const long _Py_FalseStruct;
extern const long _Py_NoneStruct;
const long PyExc_RuntimeError = 0;
const long _Py_TrueStruct = 0;
const long _Py_FalseStruct = 0;
const long _Py_NoneStruct = 0;
}
